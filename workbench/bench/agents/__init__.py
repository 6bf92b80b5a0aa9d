"""What agents are served."""
