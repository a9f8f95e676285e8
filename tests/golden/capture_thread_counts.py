"""Changes of the numbers of threads: python -m tests.golden.capture_thread_counts HOST:PORT.

Needs a fresh broker with default configuration and node.id=1.
"""

from collections.abc import Sequence

from .capture_configs import BROKER, DELETE, NEWEST, SET, Change, changing, describing, replacing
from .capture_recorder import Recorder, main

# Each key with its default, in the order in which Kafka checks them.
THREAD_COUNTS = {
    "num.network.threads": 3,
    "num.recovery.threads.per.data.dir": 2,
    "num.replica.fetchers": 1,
    "background.threads": 10,
    "num.io.threads": 8,
    "remote.log.reader.threads": 10,
    "remote.log.manager.copier.thread.pool.size": 10,
    "remote.log.manager.expiration.thread.pool.size": 10,
    "remote.log.manager.follower.thread.pool.size": 2,
    "log.cleaner.threads": 1,
}
# The broker, and all brokers.
OWN, ALL = "1", ""


def capture(recorder: Recorder) -> None:
    """Record every case."""
    for key, default in THREAD_COUNTS.items():
        _refuse(recorder, key, default)
        _change(recorder, key, default)
    _change_several(recorder)


def _refuse(recorder: Recorder, key: str, default: int) -> None:
    for count in (-1, 0, default // 2 - 1, 2 * default + 1, 127, 128, 2**31 - 1):
        for name in (OWN, ALL):
            recorder.case(f"{default} threads to {count}", 1, changing((BROKER, name, [(key, SET, str(count))])))
    too_many = str(2 * default + 1)
    only = changing((BROKER, OWN, [(key, SET, too_many)]), validate_only=True)
    recorder.case("too many threads, validate only", 1, only)
    recorder.case("too many threads, replaced", 2, replacing((BROKER, OWN, {key: too_many})))


def _change(recorder: Recorder, key: str, default: int) -> None:
    steps: Sequence[tuple[str, str, Change]] = (
        ("set to the double", ALL, (key, SET, str(2 * default))),
        ("set to four times as many", OWN, (key, SET, str(4 * default))),
        ("four times as many deleted", OWN, (key, DELETE, None)),
        ("set to four times as many again", OWN, (key, SET, str(4 * default))),
        ("the double deleted", ALL, (key, DELETE, None)),
        ("deleted, too few without it", OWN, (key, DELETE, None)),
        ("set to the double again", OWN, (key, SET, str(2 * default))),
        ("too many for all below its own", ALL, (key, SET, "1000")),
        ("all deleted", ALL, (key, DELETE, None)),
        ("its own deleted", OWN, (key, DELETE, None)),
    )
    for case, name, change in steps:
        recorder.case(f"{key}: {case}", 1, changing((BROKER, name, [change])))
        recorder.settle()
        recorder.case("what came of it", NEWEST, describing((BROKER, OWN, [key])))


def _change_several(recorder: Recorder) -> None:
    wrong: list[Change] = [(key, SET, "99") for key in THREAD_COUNTS]
    several: dict[str, list[Change]] = {
        **{f"wrong from {key} on": wrong[index:] for index, (key, _, _) in enumerate(wrong)},
        "one right, one wrong": [("num.io.threads", SET, "9"), ("background.threads", SET, "99")],
        "one wrong, a key that is read only": [("num.io.threads", SET, "99"), ("node.id", SET, "3")],
        "one wrong, no number": [("num.io.threads", SET, "99"), ("log.retention.ms", SET, "abc")],
        "one wrong, too little memory": [("num.io.threads", SET, "99"), ("log.cleaner.threads", SET, "128")],
        "too little memory": [("log.cleaner.dedupe.buffer.size", SET, "1048576")],
        "enough memory": [("log.cleaner.dedupe.buffer.size", SET, "1048577")],
    }
    for case, changes in several.items():
        recorder.case(case, 1, changing((BROKER, OWN, changes), validate_only=True))


if __name__ == "__main__":
    main(capture)
