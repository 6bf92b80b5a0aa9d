"""Transcripts of agents' sessions: what their files hold, as events."""
