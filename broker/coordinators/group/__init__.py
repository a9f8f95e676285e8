"""Classic consumer groups: membership, rebalance and committed offsets."""
