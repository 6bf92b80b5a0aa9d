"""Files: what is wrong with them."""
