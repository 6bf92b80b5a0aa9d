"""Something new is handed to the composition root, and is there all the way: one file for each kind of thing."""
