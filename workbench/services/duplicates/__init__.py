"""Finding and settling what says the same, in the stream and in playbooks."""
