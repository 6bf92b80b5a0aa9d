"""From a file into the store."""
