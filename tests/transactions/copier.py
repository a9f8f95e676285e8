"""python -m tests.transactions.copier BOOTSTRAP PARTITION: copies a partition's records, each once, until it is killed.

The read offsets and the written records are committed in one transaction. The next process with the same
transactional id continues after the last committed transaction.
"""

import faulthandler
import sys
from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

INPUT, OUTPUT, GROUP = "input", "output", "copiers"
SECONDS_MAX = 10.0
# librdkafka 2.16.0 may hang in send_offsets_to_transaction beyond its timeout: after a lost connection it repeats
# AddOffsetsToTxn and sends no TxnOffsetCommit. The process then ends, and the next one aborts the open transaction.
STUCK_SECONDS_MAX = 20.0
POLL_SECONDS = 0.05
RECORDS_MAX = 20


def copied(value: bytes) -> bytes:
    """Return the copy of a value."""
    return b"copy of " + value


class Copier:
    """Copies one partition."""

    def __init__(self, bootstrap: str, partition: int) -> None:
        self._partition = partition
        common = {"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 200}
        self._producer = Producer({**common, "transactional.id": f"copier-{partition}", "linger.ms": 0})
        self._consumer = Consumer(
            {**common, "group.id": GROUP, "isolation.level": "read_committed", "enable.auto.commit": False}
        )

    def run(self) -> None:
        # This comes first: it ends the transaction of an earlier process, which may change the committed offset.
        self._producer.init_transactions(SECONDS_MAX)
        self._rewind()
        while True:
            faulthandler.dump_traceback_later(STUCK_SECONDS_MAX, exit=True)
            self._copy_some()

    def _rewind(self) -> None:
        """Continue after the last committed transaction."""
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
