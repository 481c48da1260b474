"""Local state of this user: ledger, result cache, trial keys, and the embedded service."""
