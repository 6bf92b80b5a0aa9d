"""Saved queries and their judgments: out to files, and in from them."""
