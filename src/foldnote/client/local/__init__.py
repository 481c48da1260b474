"""State of this user on this machine: ledger, result cache, trial keys, the embedded service."""
