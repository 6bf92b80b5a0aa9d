"""What a store knows of the places where promoted knowledge stands."""
