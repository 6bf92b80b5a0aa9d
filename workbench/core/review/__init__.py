"""What waits for a decision: proposals, and the lifecycle whose steps they ask for."""
