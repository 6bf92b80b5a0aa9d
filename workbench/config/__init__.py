"""The person's settings and folders: files outside any store."""
