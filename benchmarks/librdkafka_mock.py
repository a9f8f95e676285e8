"""librdkafka's mock cluster in its own process: `python -m benchmarks.librdkafka_mock READY_FILE`."""

import json
import signal
import sys
from pathlib import Path

from confluent_kafka import Producer

METADATA_SECONDS_MAX = 10


def main() -> None:
    """Start a mock cluster of one broker, write its address, and wait for a signal."""
    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "replaced by the mock's"})
    broker = next(iter(producer.list_topics(timeout=METADATA_SECONDS_MAX).brokers.values()))
    ready_file = Path(sys.argv[1])
    partial = ready_file.with_suffix(".partial")
    partial.write_text(json.dumps({"bootstrap": f"{broker.host}:{broker.port}"}))
    partial.rename(ready_file)
    signal.pause()


if __name__ == "__main__":
    main()
