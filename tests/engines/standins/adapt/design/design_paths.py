"""Stand-in for a lab's file of paths."""
