"""Kafka's wire protocol: wire types, generated messages, hand-written codecs and record batches."""
