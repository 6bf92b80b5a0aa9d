"""Looking after a store: checkpoints, damage, erasing, copies."""
