"""Episodes: kept, looked at, corrected by a person, found by five strategies, and given to agents."""
