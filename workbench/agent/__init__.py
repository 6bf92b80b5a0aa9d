"""A door for programs: what an agent that is written in Python takes of a store."""
