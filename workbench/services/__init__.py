"""What a person or an agent can do: the only layer that commits changes."""
