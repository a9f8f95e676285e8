"""Writes records with each codec of a release of brokers, reads them back in a group, and prints what it read as JSON.

Usage: program.py HOST:PORT RELEASE, such as 0.9: the client then speaks as to brokers of that release.
"""

import json
import sys

from kafka import KafkaConsumer, KafkaProducer

CODECS = (None, "gzip")
RECORDS = 20
IDLE_MS = 5_000


def main() -> None:
    """Write and read."""
    bootstrap, release = sys.argv[1:]
    api_version = tuple(map(int, release.split(".")))
    for codec in CODECS:
        producer = KafkaProducer(
            bootstrap_servers=bootstrap, api_version=api_version, compression_type=codec, acks="all", linger_ms=20
        )
        sent = [
            producer.send(
                "orders", key=b"%d" % index, value=b"%s-%d" % ((codec or "none").encode(), index), partition=0
            )
            for index in range(RECORDS)
        ]
        producer.flush()
        offsets = [each.get().offset for each in sent]
        assert offsets == list(range(offsets[0], offsets[0] + RECORDS)), offsets
        producer.close()
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=bootstrap,
        api_version=api_version,
        group_id="readers",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=IDLE_MS,
    )
    read = []
    for record in consumer:
        read.append([record.offset, record.key.decode(), record.value.decode()])
        if len(read) == RECORDS * len(CODECS):
            break
    consumer.commit()
    consumer.close()
    print(json.dumps(read))


main()
