"""What memories and bullets say of a working tree: the names in them, and what became of what they name."""
