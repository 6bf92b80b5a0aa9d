"""From the store into a file."""
