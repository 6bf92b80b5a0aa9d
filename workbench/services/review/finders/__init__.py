"""What works out proposals that nobody stored: near copies, prunes, changed files, what came from elsewhere."""
