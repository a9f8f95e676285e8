"""Topics on one broker with default.replication.factor=3: python -m tests.golden.capture_default_replication HOST:PORT.

Needs a fresh broker that was started with CONFIG.
"""

from .capture_metadata import asking
from .capture_recorder import Recorder, main
from .capture_topics import creating, topic

CONFIG = {"default.replication.factor": "3"}


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.case("without a replication factor", 7, creating(topic("default", 1, -1)))
    recorder.case(
        "without a replication factor, only validated", 7, creating(topic("default", 1, -1), validate_only=True)
    )
    for version in (1, 4, 12):
        recorder.case("created on demand", version, asking("on-demand", auto=True))
    recorder.case("created on demand, asked again", 12, asking("on-demand"))
    recorder.case("with a replication factor of 1", 7, creating(topic("one", 1, 1)))
    recorder.wait_for_topic("one", 1)
    recorder.topic_id_of("one")
    recorder.case("with a replication factor of 1, asked again", 12, asking("one"))


if __name__ == "__main__":
    main(capture)
