"""What formats are made of: JSON, YAML and Markdown with places, records and reports."""
