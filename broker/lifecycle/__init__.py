"""Start-up and shutdown of a broker: data directory, recovery, crash and restart, reset, snapshot and export."""
