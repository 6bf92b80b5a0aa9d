"""What agents keep in documents, listed by section: looked through, edited, and watched on the disk."""
