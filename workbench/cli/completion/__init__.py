"""Completion for shells: what stands where, read from the parser, and its script for each shell."""
