"""Documents: what agents keep in folders and under /memories, opened, trusted, edited and looked
through.
"""
