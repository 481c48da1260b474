"""Reading ZIP and tar archives without trusting them."""
