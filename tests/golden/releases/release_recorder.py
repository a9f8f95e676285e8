"""The recorder of the golden programs for a broker of any release, and a run of all of them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Unpack

from ...wire.wire_connection import ConnectionClosedError
from .. import raw_apis, raw_apis_transactions
from ..case_recorder import Answer, Case, CaseRecorder, Json, Sending, TopicNotCreatedError, TopicRecords
from ..programs import PROGRAMS
from ..raw_schema import Struct, Value
from .release_connection import NOT_SENT, Ranges, ReleaseConnection, response_not_sent

TOPIC_ALREADY_EXISTS = 36
INVALID_CONFIG = 40
# In place of an error code: the broker closed the connection.
CONNECTION_CLOSED = -9998


class ReleaseRecorder(CaseRecorder):
    """Records the cases that the release can have, and leaves out the others."""

    def __init__(self, program: str, address: str, ranges: Ranges, *, patience_seconds: float) -> None:
        self._ranges = ranges
        self._lacks_api = False
        super().__init__(program, address, patience_seconds=patience_seconds)

    def connect(self) -> ReleaseConnection:
        return ReleaseConnection(self._address, self._ranges)

    def create_topic_named(self, name: str, partitions: int, configs: Mapping[str, str]) -> None:
        """Create a topic, without its configs if the release lacks one of them.

        With ZooKeeper, a deleted topic of the same name still exists for a while.
        """
        for _ in self.attempts():
            try:
                super().create_topic_named(name, partitions, configs)
            except TopicNotCreatedError as error:
                if error.error_code == INVALID_CONFIG:
                    configs = {}
                elif error.error_code != TOPIC_ALREADY_EXISTS:
                    raise
            else:
                return
        raise TimeoutError(f"{name} still exists")

    def produce(self, topic: str, records: bytes | None, **sending: Unpack[Sending]) -> Struct:
        """Send one partition's records and return that partition's answer."""
        answer = super().produce(topic, records, **sending)
        if answer.integer("error_code") == -1:
            # Releases before 3.9 answer null records twice.
            self.reconnect()
        return answer

    def produce_partitions(self, topics: Sequence[TopicRecords], transactional_id: str | None = None) -> list[Struct]:
        try:
            return super().produce_partitions(topics, transactional_id)
        except ConnectionClosedError:
            self.reconnect()
        named: Value = [{"name": name, "partitions": [index for index, _ in partitions]} for name, partitions in topics]
        answers = response_not_sent(raw_apis.PRODUCE.response, {"topics": named}).structs("topics")
        for partition in (partition for answer in answers for partition in answer.structs("partitions")):
            partition["error_code"] = CONNECTION_CLOSED
        return answers

    def active_producers(self, topic: str, partition: int = 0) -> list[Struct]:
        if raw_apis_transactions.DESCRIBE_PRODUCERS.key not in self._ranges:
            self._lacks_api = True
            return []
        return super().active_producers(topic, partition)

    def record(self, case: str, sent: Case | None, answer: Answer, **more: Json) -> None:
        """Add one case, unless the release lacks what it is about."""
        is_sent = not self._lacks_api and answer.error != NOT_SENT and str(NOT_SENT) not in json.dumps(more)
        self._lacks_api = False
        if is_sent:
            # Releases before 2.5 name the timestamp of a record in the message of the response.
            named = json.loads(json.dumps(more).replace(f"timestamp={self.started_ms}", "timestamp=NOW"))
            super().record(case, sent, answer, **named)


def run_programs(
    address: str, ranges: Ranges, programs: Iterable[str] = PROGRAMS, *, patience_seconds: float = 15.0
) -> Iterator[Case]:
    """All cases of the programs that the release can have, from one fresh broker at "host:port".

    A group of cases ends where the broker closes the connection, does not reach a state within patience_seconds, or
    lacks what the next case is about.
    """
    for program in programs:
        recorder = ReleaseRecorder(program, address, ranges, patience_seconds=patience_seconds)
        for group in PROGRAMS[program](recorder):
            try:
                group()
            except (ConnectionClosedError, TimeoutError, AssertionError, IndexError, EOFError):
                recorder.reconnect()
        recorder.connection.close()
        yield from recorder.cases
