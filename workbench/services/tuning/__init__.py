"""Asking, moving the parameters, judging, measuring, keeping what was good."""
