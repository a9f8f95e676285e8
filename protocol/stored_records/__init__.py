"""Records of Kafka's internal topics and of its metadata log."""
