"""Agents: what they asked, were given, wrote and voted, while a person watches."""
