"""The past of a store, and the way back."""
