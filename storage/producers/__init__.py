"""Producer state of a partition: entries, sequence checks and snapshots."""
