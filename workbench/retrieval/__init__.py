"""Finding memories: embeddings, full text, fuzzy search and the ranking itself."""
