"""How memories are scored, and what that is measured against."""
