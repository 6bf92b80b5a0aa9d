"""Review on the command line."""
