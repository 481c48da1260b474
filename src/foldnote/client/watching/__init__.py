"""Following jobs until they end, and stopping them."""
