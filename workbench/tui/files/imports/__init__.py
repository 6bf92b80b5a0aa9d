"""The dialog that takes a file in."""
