"""How good rankings are: metrics, verdicts, pairs and tuning, over what retrieval ranks."""
