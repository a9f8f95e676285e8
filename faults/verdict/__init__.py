"""The verdict on a topic: lost, duplicated, reordered and unacknowledged batches."""
