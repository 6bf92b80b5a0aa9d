"""Records that say the same: how they are told, grouped, merged and kept apart."""
