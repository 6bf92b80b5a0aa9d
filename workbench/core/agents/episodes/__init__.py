"""Episodes: what an agent did, from task to outcome, and what can be learned from it (source 004,
section 2).
"""
