"""The server-side assignors of groups of the consumer protocol: which member is to have which partitions."""
