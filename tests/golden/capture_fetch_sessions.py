"""What a broker answers to fetch sessions (KIP-227): python -m tests.golden.capture_fetch_sessions HOST:PORT.

Needs a fresh broker with default configuration. Each story is one session from its first request on; the case's name
says the step.
"""

from collections.abc import Callable, Sequence

from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest
from fauxka.protocol.messages.fetch import FetchRequest, FetchResponse, FetchTopic, ForgottenTopic

from .capture_batches import FIRST_TIMESTAMP, batch
from .capture_fetch import BY_ID, BY_NAME, UNKNOWN_ID, Fetching, asked, request_for
from .capture_recorder import Recorder, main

FIRST_VERSION = 7
SMALL = batch([FIRST_TIMESTAMP])
NO_SESSION_EPOCH = -1
FIRST_EPOCH = 0
SHORT_WAIT_MS = 300
# Long enough for the requests of another connection.
LONG_WAIT_MS = 900


class Story:
    """One session: keeps its id, records each step."""

    def __init__(self, recorder: Recorder, title: str, version: int) -> None:
        self.recorder = recorder
        self.fetching = Fetching(recorder)
        self.title = title
        self.version = version
        self.session_id = 0

    def step(
        self,
        what: str,
        epoch: int,
        *topics: FetchTopic,
        forgotten: Sequence[ForgottenTopic] = (),
        version: int | None = None,
    ) -> None:
        """Send the next request of the session; the first answer gives its id."""
        request = self._request(epoch, topics, forgotten)
        response = self.recorder.case(f"{self.title}: {what}", version or self.version, request)
        if epoch == FIRST_EPOCH and isinstance(response, FetchResponse):
            self.session_id = response.session_id

    def timed_step(self, what: str, epoch: int, *topics: FetchTopic) -> None:
        """The same with min_bytes 1 and a wait, and whether it was waited."""
        request = self._request(epoch, topics, ())
        request.min_bytes, request.max_wait_ms = 1, SHORT_WAIT_MS
        self.recorder.timed_case(f"{self.title}: {what}", self.version, request, bound_ms=SHORT_WAIT_MS)

    def overtaken_step(self, what: str, epoch: int, meanwhile: Callable[[], None]) -> None:
        """Wait for a first byte, while meanwhile sends further steps over another connection."""
        request = self._request(epoch, (), ())
        request.min_bytes, request.max_wait_ms = 1, LONG_WAIT_MS
        self.recorder.overtaken_case(f"{self.title}: {what}", self.version, request, meanwhile, bound_ms=LONG_WAIT_MS)

    def topic(self, name: str, *offsets: int) -> FetchTopic:
        """Return an entry that asks partition 0, 1... from these offsets."""
        return self.fetching.topic(
            name, *(asked(partition=index, offset=offset) for index, offset in enumerate(offsets))
        )

    def forgetting(self, name: str, *partitions: int) -> ForgottenTopic:
        """Return an entry that drops partitions from the session."""
        topic_id = self.recorder.topic_ids.get(name, UNKNOWN_ID)
        return ForgottenTopic(topic=name, topic_id=topic_id, partitions=list(partitions))

    def _request(self, epoch: int, topics: Sequence[FetchTopic], forgotten: Sequence[ForgottenTopic]) -> FetchRequest:
        request = request_for(*topics)
        request.session_id, request.session_epoch = self.session_id, epoch
        request.forgotten_topics_data = list(forgotten)
        return request


def capture(recorder: Recorder) -> None:
    """Record every case."""
    for version in (FIRST_VERSION, BY_NAME, 13, BY_ID):
        _data_comes(recorder, version)
        _partitions_come_and_go(recorder, version)
        _wrong_epochs(recorder, version)
        _closing(recorder, version)
        _errors_inside(recorder, version)
    _waiting(recorder)
    _names_to_ids(recorder)
    _deleted_topic(recorder)
    _no_session(recorder)
    for version in (BY_NAME, BY_ID):
        _forgotten_in_a_full_request(recorder, version)
        _named_twice(recorder, version)
        _added_and_forgotten(recorder, version)
        _continued_while_waiting(recorder, version)
        _closed_while_waiting(recorder, version)


def _data_comes(recorder: Recorder, version: int) -> None:
    name = f"data-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    recorder.produce(name, SMALL)
    story = Story(recorder, "data comes", version)
    story.step("first request", 0, story.topic(name, 0, 0))
    story.step("nothing new, same offsets", 1)
    story.step("the offset moves on", 2, story.topic(name, 1))
    story.step("nothing new", 3)
    recorder.produce(name, SMALL, partition=1)
    story.step("a record came to partition 1", 4)
    story.step("asked again without a new offset", 5)
    moved = story.fetching.topic(name, asked(partition=1, offset=1))
    story.step("the offset of partition 1 moves on", 6, moved)
    recorder.produce(name, SMALL)
    recorder.produce(name, SMALL, partition=1)
    story.step("a record came to each", 7)


def _partitions_come_and_go(recorder: Recorder, version: int) -> None:
    name, other = f"going-v{version}", f"coming-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    recorder.create_topic(other, 1, retention_ms="-1")
    recorder.produce(other, SMALL)
    story = Story(recorder, "partitions come and go", version)
    story.step("first request", 0, story.topic(name, 0, 0))
    story.step("another topic is added", 1, story.topic(other, 0))
    story.step("one partition is forgotten", 2, forgotten=[story.forgetting(name, 1)])
    recorder.produce(name, SMALL)
    recorder.produce(name, SMALL, partition=1)
    story.step("records came to both partitions of the first topic", 3)
    story.step("a partition that is not in the session is forgotten", 4, forgotten=[story.forgetting(name, 1)])
    story.step("an unknown topic is forgotten", 5, forgotten=[story.forgetting("not-there", 0)])
    story.step(
        "a partition is added and forgotten at once", 6, story.topic(name, 0), forgotten=[story.forgetting(name, 0)]
    )
    gone = [story.forgetting(name, 0), story.forgetting(other, 0)]
    story.step("all are forgotten", 7, forgotten=gone)
    story.step("the session after that", 8)


def _wrong_epochs(recorder: Recorder, version: int) -> None:
    name = f"epochs-v{version}"
    recorder.create_topic(name, 1, retention_ms="-1")
    recorder.produce(name, SMALL)
    story = Story(recorder, "wrong epochs", version)
    story.step("first request", 0, story.topic(name, 0))
    story.step("epoch 2 after 0", 2)
    story.step("epoch 1 after that", 1)
    story.step("epoch 1 again", 1)
    story.step("epoch 2", 2)
    story.step("epoch -2", -2)
    session_id, story.session_id = story.session_id, 12345
    story.step("unknown session id", 1)
    story.step("unknown session id with epoch -1", -1, story.topic(name, 0))
    story.step("session id 12345 with epoch 0", 0, story.topic(name, 0))
    story.session_id = 0
    story.step("session id 0 with epoch 1", 1, story.topic(name, 0))
    story.session_id = session_id
    story.step("the session of before, epoch 3", 3)
    story.step("the session's id with epoch 0 starts a new one", 0, story.topic(name, 0))
    story.session_id = session_id
    story.step("the session of before, epoch 4", 4)


def _closing(recorder: Recorder, version: int) -> None:
    name = f"closing-v{version}"
    recorder.create_topic(name, 1, retention_ms="-1")
    recorder.produce(name, SMALL)
    story = Story(recorder, "closing", version)
    story.step("first request", 0, story.topic(name, 0))
    story.step("epoch -1 with the session's id", -1, story.topic(name, 0))
    story.step("the session after that", 1)
    story.session_id = 0
    story.step("a first request without partitions", 0)
    story.step("the session after that without partitions", 1)
    story.step("a full request without a session", -1, story.topic(name, 0))


def _errors_inside(recorder: Recorder, version: int) -> None:
    name = f"errors-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    recorder.produce(name, SMALL)
    story = Story(recorder, "errors inside", version)
    story.step("first request, one out of range", 0, story.topic(name, 0, 99))
    story.step("nothing new", 1)
    story.step("an unknown topic is added", 2, story.topic("not-there", 0))
    story.step("after the unknown topic", 3)
    unknown = story.fetching.topic(name, asked(partition=9))
    story.step("an unknown partition is added", 4, unknown)
    story.step("after the unknown partition", 5)
    story.session_id = 0
    story.step("first request with an unknown topic", 0, story.topic(name, 0), story.topic("not-there", 0))
    story.step("after that", 1)


def _waiting(recorder: Recorder) -> None:
    recorder.create_topic("waiting", 2, retention_ms="-1")
    recorder.produce("waiting", SMALL)
    story = Story(recorder, "waiting", BY_ID)
    story.step("first request", 0, story.topic("waiting", 1, 0))
    story.timed_step("nothing new", 1)
    story.timed_step("an offset back to data", 2, story.topic("waiting", 0))
    story.timed_step("the same data again", 3)
    story.timed_step("an offset out of range", 4, story.topic("waiting", 99))
    story.timed_step("the same offset out of range", 5)
    story.session_id = 0
    story.timed_step("a first request at the end", 0, story.topic("waiting", 1))


def _names_to_ids(recorder: Recorder) -> None:
    recorder.create_topic("switching", 1, retention_ms="-1")
    recorder.produce("switching", SMALL)
    story = Story(recorder, "from names to ids", BY_NAME)
    story.step("first request by name", 0, story.topic("switching", 0))
    story.step("the next one by id", 1, story.topic("switching", 0), version=BY_ID)
    story.step("back to names", 2, version=BY_NAME)
    story = Story(recorder, "from ids to names", BY_ID)
    story.step("first request by id", 0, story.topic("switching", 0))
    story.step("the next one by name", 1, story.topic("switching", 0), version=BY_NAME)
    story.step("another version by id", 1, version=13)


def _deleted_topic(recorder: Recorder) -> None:
    for version in (BY_NAME, BY_ID):
        name = f"deleted-v{version}"
        recorder.create_topic(name, 1, retention_ms="-1")
        recorder.produce(name, SMALL)
        story = Story(recorder, "the topic is deleted", version)
        story.step("first request", 0, story.topic(name, 1))
        story.step("nothing new", 1)
        recorder.call(DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000), 5)
        recorder.settle()
        story.step("after the deletion", 2)
        story.step("and again", 3)


def _no_session(recorder: Recorder) -> None:
    recorder.create_topic("plain", 1, retention_ms="-1")
    recorder.produce("plain", SMALL)
    story = Story(recorder, "no session", BY_ID)
    story.step("session id 0, epoch -1", NO_SESSION_EPOCH, story.topic("plain", 0))
    story.step(
        "with a topic to forget", NO_SESSION_EPOCH, story.topic("plain", 0), forgotten=[story.forgetting("plain", 0)]
    )


def _forgotten_in_a_full_request(recorder: Recorder, version: int) -> None:
    name = f"full-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    recorder.produce(name, SMALL)
    recorder.produce(name, SMALL, partition=1)
    story = Story(recorder, "forgotten in a full request", version)
    forgotten = [story.forgetting(name, 1)]
    story.step("first request, which also forgets partition 1", 0, story.topic(name, 0, 0), forgotten=forgotten)
    story.step("the session after that", 1)
    recorder.produce(name, SMALL, partition=1)
    story.step("a record came to partition 1", 2)
    story.step(
        "epoch 0 with the session's id forgets all",
        0,
        story.topic(name, 0, 0),
        forgotten=[story.forgetting(name, 0, 1), story.forgetting("not-there", 0)],
    )
    story.step("the new session", 1)
    story.step("epoch -1 forgets partition 0", -1, story.topic(name, 0, 0), forgotten=[story.forgetting(name, 0)])
    story.step("the session after that is closed", 2)
    story.session_id = 0
    story.step("a first request that only forgets", 0, forgotten=[story.forgetting(name, 0)])
    story.step("after that", 1)


def _named_twice(recorder: Recorder, version: int) -> None:
    name = f"twice-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    recorder.produce(name, SMALL, SMALL)
    recorder.produce(name, SMALL, partition=1)
    story = Story(recorder, "named twice", version)
    again = story.fetching.topic(name, asked(partition=0, offset=1))
    story.step("without a session, a topic twice", -1, story.topic(name, 0, 0), again)
    story.step("first request, a topic twice", 0, story.topic(name, 0, 0), again)
    story.step("the session after that", 1)
    both = story.fetching.topic(name, asked(partition=0, offset=2), asked(partition=0, offset=0))
    story.step("a partition twice in the session", 2, both)
    story.step("after that", 3)
    story.step("a partition is forgotten twice", 4, forgotten=[story.forgetting(name, 1, 1)])
    story.step("the session at the end", 5)


def _added_and_forgotten(recorder: Recorder, version: int) -> None:
    name, other = f"added-v{version}", f"both-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    recorder.create_topic(other, 1, retention_ms="-1")
    recorder.produce(name, SMALL)
    recorder.produce(other, SMALL)
    story = Story(recorder, "added and forgotten", version)
    story.step("first request", 0, story.topic(name, 0))
    story.step("another is added and forgotten", 1, story.topic(other, 0), forgotten=[story.forgetting(other, 0)])
    story.step("the session after that", 2)
    story.step(
        "the only one is asked again and forgotten", 3, story.topic(name, 0), forgotten=[story.forgetting(name, 0)]
    )
    story.step("the session after the only one", 4)


def _continued_while_waiting(recorder: Recorder, version: int) -> None:
    name = f"continued-v{version}"
    recorder.create_topic(name, 2, retention_ms="-1")
    story = Story(recorder, "continued while a request waits", version)
    story.step("first request", 0, story.topic(name, 0, 0))
    story.overtaken_step("waits, epoch 1", 1, lambda: story.step("epoch 2 meanwhile", 2))
    story.step("epoch 3", 3)

    def forget_and_produce() -> None:
        story.step("forgets partition 0 meanwhile", 5, forgotten=[story.forgetting(name, 0)])
        recorder.produce(name, SMALL)

    story.overtaken_step("waits for partition 0, epoch 4", 4, forget_and_produce)
    story.step("epoch 6", 6)

    def repeat() -> None:
        story.step("the same epoch meanwhile", 7)

    story.overtaken_step("waits, epoch 7", 7, repeat)
    story.step("epoch 8", 8)

    def begin_anew() -> None:
        session_id = story.session_id
        story.step("epoch 0 meanwhile", 0, story.topic(name, 1, 0))
        story.step("the new session", 1)
        story.session_id = session_id

    story.overtaken_step("waits, epoch 9", 9, begin_anew)
    story.step("epoch 10 of the session before", 10)


def _closed_while_waiting(recorder: Recorder, version: int) -> None:
    name = f"closed-v{version}"
    recorder.create_topic(name, 1, retention_ms="-1")
    story = Story(recorder, "closed while a request waits", version)
    story.step("first request", 0, story.topic(name, 0))
    story.overtaken_step("waits, epoch 1", 1, lambda: story.step("epoch -1 meanwhile", -1, story.topic(name, 0)))
    story.step("epoch 2", 2)
    story.session_id = 0
    story.step("first request of another session", 0, story.topic(name, 0))

    def close_and_produce() -> None:
        story.step("epoch -1 meanwhile without partitions", -1)
        recorder.produce(name, SMALL)

    story.overtaken_step("waits for a record, epoch 1", 1, close_and_produce)
    story.step("epoch 2 of that", 2)


if __name__ == "__main__":
    main(capture)
