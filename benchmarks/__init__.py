"""Benchmarks of fauxka, librdkafka's mock and a real Kafka under the same load in one run: `python -m benchmarks`."""
