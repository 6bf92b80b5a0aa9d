"""Looking after a store: its soundness, its upkeep, its size, its past."""
