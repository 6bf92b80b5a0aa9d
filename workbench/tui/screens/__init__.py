"""One screen per area."""
