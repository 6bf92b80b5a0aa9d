"""The floor under relevance: what it is for the store, and a query against it."""
