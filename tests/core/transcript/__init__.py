"""Rules of what a session of an agent teaches."""
