"""What a broker answers to Metadata 0-13: python -m tests.golden.capture_metadata HOST:PORT.

Needs a fresh broker with default configuration (auto.create.topics.enable=true, num.partitions=1).
"""

from collections.abc import Sequence

from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from .capture_recorder import Recorder, main

VERSIONS = range(14)
AUTO_CREATION_FLAG_SINCE = 4
TOPIC_IDS_SINCE = 10
UNKNOWN_ID = bytes(range(16))
INVALID_NAMES = {
    "empty name": "",
    "one dot": ".",
    "two dots": "..",
    "250 characters": "a" * 250,
    "a blank": "with blank",
    "not ASCII": "tópico",
    "a slash": "a/b",
}


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _existing_topics(recorder)
    _auto_creation(recorder)
    _invalid_names(recorder)
    _topic_ids(recorder)
    _authorized_operations(recorder)
    _internal_topics(recorder)


def asking(*names: str, auto: bool = False) -> MetadataRequest:
    """Return a request for topics by name."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=auto)


def asking_ids(*topics: tuple[str | None, bytes]) -> MetadataRequest:
    """Return a request for topics by name, id or both."""
    entries = [MetadataRequestTopic(name=name, topic_id=topic_id) for name, topic_id in topics]
    return MetadataRequest(topics=entries, allow_auto_topic_creation=False)


def _existing_topics(recorder: Recorder) -> None:
    recorder.case("all topics of an empty cluster", 12, MetadataRequest(topics=None))
    recorder.create_topic("three", 3)
    recorder.create_topic("dotted.name")
    recorder.create_topic("another")
    recorder.each_version("one topic", VERSIONS, lambda _: asking("three"))
    recorder.each_version("empty list of topics", VERSIONS, lambda _: MetadataRequest(topics=[]))
    recorder.each_version("null for all topics", VERSIONS[1:], lambda _: MetadataRequest(topics=None))
    recorder.case("two topics in one request", 12, asking("three", "another"))
    recorder.case("the same topic twice", 12, asking("three", "three"))
    recorder.case("an unknown topic before a known one", 12, asking("not-there", "three"))


def _auto_creation(recorder: Recorder) -> None:
    for version in VERSIONS:
        name = f"auto-v{version}"
        recorder.case("unknown topic, auto creation allowed", version, asking(name, auto=True))
        recorder.wait_for_topic(name, 1)
        recorder.topic_id_of(name)
        recorder.case("the topic created by that", version, asking(name, auto=True))
    without = VERSIONS[AUTO_CREATION_FLAG_SINCE:]
    recorder.each_version("unknown topic, auto creation not allowed", without, lambda v: asking(f"none-v{v}"))
    recorder.case("it was not created", 12, asking("none-v4", "none-v13"))
    recorder.case("a name that collides with an existing one", 12, asking("dotted_name", auto=True))
    recorder.case("two unknown topics that collide", 12, asking("new.name", "new_name", auto=True))
    recorder.case(
        "known, unknown and invalid, auto creation allowed", 12, asking("three", "auto-mixed", "a b", auto=True)
    )
    for name in ("auto-mixed", "new.name", "new_name"):
        recorder.wait_for_topic(name, 1)
        recorder.topic_id_of(name)
    recorder.case("all topics with auto creation allowed", 1, MetadataRequest(topics=None))


def _invalid_names(recorder: Recorder) -> None:
    for version in (0, 1, 4, 9, 12, 13):
        for case, name in INVALID_NAMES.items():
            recorder.case(f"{case}, auto creation not allowed", version, asking(name))
            recorder.case(f"{case}, auto creation allowed", version, asking(name, auto=True))


def _topic_ids(recorder: Recorder) -> None:
    topic_id = recorder.topic_ids["three"]
    for version in VERSIONS[TOPIC_IDS_SINCE:]:
        recorder.case("by topic id", version, asking_ids((None, topic_id)))
        recorder.case("by unknown topic id", version, asking_ids((None, UNKNOWN_ID)))
        recorder.case("by topic id and its name", version, asking_ids(("three", topic_id)))
        recorder.case("by topic id and another's name", version, asking_ids(("another", topic_id)))
        recorder.case("null name and zero id", version, asking_ids((None, bytes(16))))
        recorder.case("one by name, one by id", version, asking_ids(("another", bytes(16)), (None, topic_id)))
    recorder.case("known and unknown ids", 12, asking_ids((None, topic_id), (None, UNKNOWN_ID)))
    recorder.case("the same id twice", 12, asking_ids((None, topic_id), (None, topic_id)))
    creating = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=UNKNOWN_ID)])
    recorder.case("by unknown topic id, auto creation allowed", 12, creating)


def _authorized_operations(recorder: Recorder) -> None:
    flags: Sequence[tuple[str, bool, bool]] = (
        ("cluster", True, False),
        ("topic", False, True),
        ("cluster and topic", True, True),
    )
    for version in VERSIONS[8:]:
        for case, of_cluster, of_topic in flags:
            request = asking("three", "not-there")
            request.include_cluster_authorized_operations = of_cluster
            request.include_topic_authorized_operations = of_topic
            recorder.case(f"authorized operations of {case}", version, request)


def _internal_topics(recorder: Recorder) -> None:
    recorder.case("internal topic that is not there yet, auto creation not allowed", 12, asking("__consumer_offsets"))
    for name in ("__consumer_offsets", "__transaction_state"):
        recorder.case("internal topic that is not there yet, auto creation allowed", 12, asking(name, auto=True))
        recorder.wait_for_topic(name, 1)
        recorder.topic_id_of(name)
        recorder.case("internal topic", 12, asking(name))
    recorder.case("internal topic before is_internal was there", 0, asking("__consumer_offsets"))
    recorder.case("by the id of an internal topic", 12, asking_ids((None, recorder.topic_id_of("__consumer_offsets"))))


if __name__ == "__main__":
    main(capture)
