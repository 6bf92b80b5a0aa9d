"""A record wherever it is met: what its keys do, and the way from one to the next."""
