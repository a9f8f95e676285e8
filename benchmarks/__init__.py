"""fauxka, librdkafka's mock and a real Kafka under the same load in the same run: `python -m benchmarks`."""
