"""Text that should not travel: secrets, and text that gives orders to an agent."""
