"""Plain JSON, YAML, CSV, Markdown and text, for other programs and for people."""
