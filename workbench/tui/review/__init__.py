"""Review: the queue, the item under the cursor, its evidence."""
