"""Finding secrets in text."""
