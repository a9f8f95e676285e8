"""The broker: sockets to handlers to partition logs."""
