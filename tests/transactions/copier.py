"""python -m tests.transactions.copier BOOTSTRAP PARTITION: copies a partition's records, each once, until it is killed.

What it has read is committed with what it has written, in one transaction; so whoever comes next with the same
transactional id goes on where the last committed transaction ended.
"""

import faulthandler
import sys
from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

INPUT, OUTPUT, GROUP = "input", "output", "copiers"
SECONDS_MAX = 10.0
# librdkafka 2.16.0 may hang in send_offsets_to_transaction for longer than it is told: where AddOffsetsToTxn was sent
# again after a lost connection it sends no TxnOffsetCommit. Then the process ends; the next one aborts what is open.
STUCK_SECONDS_MAX = 20.0
POLL_SECONDS = 0.05
RECORDS_MAX = 20


def copied(value: bytes) -> bytes:
    """What becomes of a value on its way."""
    return b"copy of " + value


class Copier:
    """One partition's copier."""

    def __init__(self, bootstrap: str, partition: int) -> None:
        self._partition = partition
        common = {"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 200}
        self._producer = Producer({**common, "transactional.id": f"copier-{partition}", "linger.ms": 0})
        self._consumer = Consumer(
            {**common, "group.id": GROUP, "isolation.level": "read_committed", "enable.auto.commit": False}
        )

    def run(self) -> None:
        # First, so that nobody else ends a transaction behind the offset that is asked for then.
        self._producer.init_transactions(SECONDS_MAX)
        self._rewind()
        while True:
            faulthandler.dump_traceback_later(STUCK_SECONDS_MAX, exit=True)
            self._copy_some()

    def _rewind(self) -> None:
        """Read on where the last committed transaction ended."""
        (committed,) = self._consumer.committed([TopicPartition(INPUT, self._partition)], SECONDS_MAX)
        self._consumer.assign([TopicPartition(INPUT, self._partition, max(committed.offset, 0))])

    def _copy_some(self) -> None:
        messages = [each for each in self._consumer.consume(RECORDS_MAX, POLL_SECONDS) if each.error() is None]
        if not messages:
            return
        self._producer.begin_transaction()
        try:
            for each in messages:
                self._producer.produce(OUTPUT, value=copied(each.value() or b""), partition=self._partition)
            after = TopicPartition(INPUT, self._partition, (messages[-1].offset() or 0) + 1)
            self._producer.send_offsets_to_transaction([after], self._consumer.consumer_group_metadata(), SECONDS_MAX)
            self._commit()
        except KafkaException as error:
            if error.args[0].fatal():
                raise
            self._producer.abort_transaction(SECONDS_MAX)
            self._rewind()

    def _commit(self) -> None:
        while True:
            try:
                self._producer.commit_transaction(SECONDS_MAX)
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
            else:
                return


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        Copier(sys.argv[1], int(sys.argv[2])).run()
