"""Values and rules of agent memory: plain Python, no I/O, no clock of its own."""
