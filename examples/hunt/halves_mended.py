"""Writes two records for each order, a debit and a credit, and commits its offset, all in one transaction."""

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from settings import CONSUMER, PRODUCER, is_end

SECONDS_MAX = 5
# When its only broker is away, librdkafka 2.16.0 looks for others from the beginning, and a send_offsets_to_transaction
# that goes on meanwhile never returns.
OWN = {"transactional.id": "book", "transaction.timeout.ms": 6000, "metadata.recovery.strategy": "none"}
producer = Producer(PRODUCER | OWN)
producer.init_transactions(SECONDS_MAX)
consumer = Consumer(CONSUMER)
consumer.subscribe(["orders"])
try:
    while (message := consumer.poll(1)) is None or not is_end(message):
        if message is None:
            continue
        producer.begin_transaction()
        for side in (b"debit", b"credit"):
            producer.produce("copies", side + b" for " + (message.value() or b""))
        done = TopicPartition("orders", message.partition() or 0, (message.offset() or 0) + 1)
        try:
            producer.send_offsets_to_transaction([done], consumer.consumer_group_metadata(), SECONDS_MAX)
            producer.commit_transaction(SECONDS_MAX)
        except KafkaException as failure:
            error = failure.args[0]
            if not error.retriable():
                raise
            # The first call may have committed it: the second one tells.
            producer.commit_transaction(SECONDS_MAX)
finally:
    consumer.close()
