"""What can be wrong with a store, and what is found out about it."""
