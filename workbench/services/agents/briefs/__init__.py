"""The brief of a store, which an agent's session begins with."""
