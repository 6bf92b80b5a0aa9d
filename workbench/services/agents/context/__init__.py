"""What an agent is given for a task, layer by layer, under a budget of tokens."""
