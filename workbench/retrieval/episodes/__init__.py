"""Finding episodes: what is searched of them, kept in a cache, and their score over columns."""
