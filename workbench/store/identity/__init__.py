"""Which store this is, and what this machine knows of it from outside."""
