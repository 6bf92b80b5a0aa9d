"""Everything that asks Claude: prompts, calls, the budget, the reflector."""
