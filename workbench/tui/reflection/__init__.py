"""The dialogs around reflecting."""
