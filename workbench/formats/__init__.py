"""Other people's files: one module per format."""
