"""Memory streams of generative agents, in both of their file layouts."""
