"""Consolidating what agents did and learned, stage by stage: planned, carried out, gone on with, reported."""
