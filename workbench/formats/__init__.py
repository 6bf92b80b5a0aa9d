"""Other people's files: one module per format, one registry."""
