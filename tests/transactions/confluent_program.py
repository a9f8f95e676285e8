"""python -m tests.transactions.confluent_program BOOTSTRAP TRANSACTIONAL_ID: runs confluent-kafka for PipedProgram."""

import json
import sys
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

SECONDS_MAX = 30.0
POLL_SECONDS = 0.1


class Program:
    """One transactional producer, and a consumer for each call that needs one."""

    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._bootstrap = bootstrap
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "linger.ms": 0}
        )

    def init(self) -> None:
        self._producer.init_transactions(SECONDS_MAX)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, values: list[str]) -> None:
        """Send the values, and wait until all are acknowledged."""
        errors: list[KafkaError] = []
        for value in values:
            self._producer.produce(topic, value=value.encode(), partition=0, on_delivery=_into(errors))
        # flush() of a fenced producer calls the delivery reports while an exception is raised, so poll() is called.
        while len(self._producer):
            self._producer.poll(POLL_SECONDS)
        if errors:
            raise KafkaException(errors[0])

    def offsets(self, group: str, topic: str, offset: int) -> None:
        """Commit an offset for partition 0 as part of the transaction."""
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        try:
            self._producer.send_offsets_to_transaction(
                [TopicPartition(topic, 0, offset)], consumer.consumer_group_metadata(), SECONDS_MAX
            )
        finally:
            consumer.close()

    def commit(self) -> None:
        self._producer.commit_transaction(SECONDS_MAX)

    def abort(self) -> None:
        self._producer.abort_transaction(SECONDS_MAX)

    def read(self, topic: str, isolation: str) -> list[str]:
        """Return the values in partition 0 that a consumer of this isolation level can read now."""
        settings = {"bootstrap.servers": self._bootstrap, "group.id": "reader", "enable.auto.commit": False}
        consumer = Consumer({**settings, "isolation.level": isolation, "enable.partition.eof": True})
        consumer.assign([TopicPartition(topic, 0, 0)])
        values: list[str] = []
        while True:
            message = consumer.poll(POLL_SECONDS)
            if message is None:
                continue
            if message.error() is not None:  # The end.
                consumer.close()
                return values
            values.append((message.value() or b"").decode())

    def committed(self, group: str, topic: str) -> int:
        """Return the group's committed offset for partition 0; negative without one."""
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        (found,) = consumer.committed([TopicPartition(topic, 0)], SECONDS_MAX)
        consumer.close()
        return found.offset


def _into(errors: list[KafkaError]) -> Callable[[KafkaError | None, Message], None]:
    return lambda error, _: errors.append(error) if error is not None else None


def main() -> None:
    program = Program(*sys.argv[1:])
    for line in sys.stdin:
        arguments = json.loads(line)
        try:
            answer = {"result": getattr(program, arguments.pop("do"))(**arguments)}
        except KafkaException as error:
            answer = {"error": error.args[0].name()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
