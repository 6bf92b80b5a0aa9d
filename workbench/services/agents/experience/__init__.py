"""What episodes and patterns do together: a task's context in parts, learning from an episode, what went otherwise."""
