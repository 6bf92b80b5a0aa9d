"""The journal: one append-only file of checksummed changes, its segments, its lock, its end."""
