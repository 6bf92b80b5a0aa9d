"""The queue as an inbox: its groups, what is worked out for it, and how a sitting goes."""
