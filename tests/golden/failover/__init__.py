"""What three Kafka brokers return while nodes fail and come back: scripts of requests and of control steps."""
