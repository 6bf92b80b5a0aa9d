"""What a store is expected to answer: read from a file, and held against it."""
