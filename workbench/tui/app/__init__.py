"""The app itself: areas as modes, actions and keys, themes, what all screens share."""
