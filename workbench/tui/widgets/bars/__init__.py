"""Numbers as bars, and sliders."""
