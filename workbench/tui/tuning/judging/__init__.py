"""Judged queries: grades, pairs, verdicts, the search for better settings."""
