"""Capturing what sessions of agents teach, from their hooks and their transcripts."""
