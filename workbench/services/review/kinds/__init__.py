"""What deciding on each kind of proposals does, a module for each."""
