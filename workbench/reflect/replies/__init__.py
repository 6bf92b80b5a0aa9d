"""Replies of language models as values."""
