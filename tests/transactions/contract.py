"""Tests of transactions that every client must pass. Each producer is a process of its own."""

from collections.abc import Callable

import pytest

from .piped_program import PipedProgram, Refused

# Starts a producer with that transactional id.
StartProducer = Callable[[str], PipedProgram]

READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"


class TransactionsContract:
    """The tests. fenced_names: the client's names of the error of a fenced producer."""

    fenced_names: frozenset[str] = frozenset()

    def test_read_committed_returns_committed_records_and_read_uncommitted_all(
        self, start: StartProducer, topic: str
    ) -> None:
        producer = start("transfers")
        producer.do("init")

        for values, end in ((["a1", "a2"], "commit"), (["b1", "b2"], "abort"), (["c1"], "commit")):
            producer.do("begin")
            producer.do("send", topic=topic, values=values)
            producer.do(end)

        assert producer.do("read", topic=topic, isolation=READ_COMMITTED) == ["a1", "a2", "c1"]
        assert producer.do("read", topic=topic, isolation=READ_UNCOMMITTED) == ["a1", "a2", "b1", "b2", "c1"]

    def test_read_committed_stops_at_an_open_transaction(self, start: StartProducer, topic: str) -> None:
        first, second = start("first"), start("second")
        for producer in (first, second):
            producer.do("init")
            producer.do("begin")
        first.do("send", topic=topic, values=["first"])
        second.do("send", topic=topic, values=["second"])

        second.do("commit")
        before = second.do("read", topic=topic, isolation=READ_COMMITTED)
        first.do("commit")

        assert before == []
        assert second.do("read", topic=topic, isolation=READ_COMMITTED) == ["first", "second"]

    def test_offsets_are_committed_with_their_transaction(self, start: StartProducer, topic: str) -> None:
        producer = start("copier")
        producer.do("init")

        producer.do("begin")
        producer.do("send", topic=topic, values=["x"])
        producer.do("offsets", group="copiers", topic=topic, offset=5)
        producer.do("commit")
        producer.do("begin")
        producer.do("send", topic=topic, values=["y"])
        producer.do("offsets", group="copiers", topic=topic, offset=9)
        producer.do("abort")

        assert producer.do("committed", group="copiers", topic=topic) == 5

    def test_zombie_is_fenced(self, start: StartProducer, topic: str) -> None:
        zombie, successor = start("payments"), start("payments")
        zombie.do("init")
        zombie.do("begin")
        zombie.do("send", topic=topic, values=["zombie-1"])

        successor.do("init")
        successor.do("begin")
        successor.do("send", topic=topic, values=["successor"])
        with pytest.raises(Refused) as sent:
            zombie.do("send", topic=topic, values=["zombie-2"])
        with pytest.raises(Refused) as committed:
            zombie.do("commit")
        successor.do("commit")

        assert {str(sent.value), str(committed.value)} <= self.fenced_names
        assert successor.do("read", topic=topic, isolation=READ_COMMITTED) == ["successor"]
        assert successor.do("read", topic=topic, isolation=READ_UNCOMMITTED) == ["zombie-1", "successor"]
