"""Files on the command line."""
