"""Instruction files: documents that a tool loads whole."""
