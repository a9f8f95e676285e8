"""Sources of logs: segment files and topics of a broker."""
