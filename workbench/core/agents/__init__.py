"""Who the agents are, and what they read."""
