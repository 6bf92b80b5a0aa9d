"""Notes: Markdown files that each say one thing."""
