"""What is wrong with a file, and the edit that puts it right: shown first, made by a person."""
