"""Share groups (KIP-932): several consumers of a partition, each record is acknowledged separately."""
