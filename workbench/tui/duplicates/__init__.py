"""What says the same, shown and decided on, in every area that finds some."""
