"""The dialog that writes a file."""
