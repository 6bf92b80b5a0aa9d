"""The plain rules of a ranking, one memory after the other: what the fast one is compared with."""
