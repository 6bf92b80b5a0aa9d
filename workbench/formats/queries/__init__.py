"""Judged queries: query sets and TREC files."""
