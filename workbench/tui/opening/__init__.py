"""What is shown before a store is open."""
