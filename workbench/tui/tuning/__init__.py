"""Tune: sliders, the live ranking, and what is kept of them."""
