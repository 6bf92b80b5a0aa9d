"""The command line: parses, asks the bench, shows. It has no rules of its own."""
