"""Patterns: what an agent learned to do, where it applies, and what speaks for it (source 004,
section 3).
"""
