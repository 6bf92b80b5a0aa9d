"""The dialog that promotes."""
