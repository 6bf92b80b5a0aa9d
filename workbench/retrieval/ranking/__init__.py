"""Memories as columns, ranked by three factors, and the outcome explained."""
