"""What background questions reach on a store: the questions, the reckoning and its cache."""
