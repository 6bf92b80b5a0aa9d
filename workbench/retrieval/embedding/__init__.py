"""Texts as vectors, and which vectors are close."""
