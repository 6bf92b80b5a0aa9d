"""When to reflect, and what a language model may be asked."""
