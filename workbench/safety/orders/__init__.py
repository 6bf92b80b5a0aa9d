"""Finding text that gives orders to an agent."""
