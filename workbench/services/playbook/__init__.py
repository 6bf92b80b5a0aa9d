"""Playbooks: bullets, their curation, what runs tell about them."""
