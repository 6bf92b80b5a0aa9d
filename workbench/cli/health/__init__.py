"""Looking after a store on the command line."""
