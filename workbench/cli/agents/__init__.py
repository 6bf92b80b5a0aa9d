"""What agents are printed."""
