"""What may be kept, shown, served and exported."""
