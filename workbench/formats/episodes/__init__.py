"""Files of episodes: as source 004 has them, and as agent-playbook writes them."""
