"""`.learnings` files."""
