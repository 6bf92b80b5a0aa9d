"""How flagged text looks and is let go, and the question of trust."""
