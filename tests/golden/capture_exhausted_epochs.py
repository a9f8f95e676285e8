"""What a broker answers to a producer without epochs: python -m tests.golden.capture_exhausted_epochs HOST:PORT.

Needs a fresh broker with default configuration. A producer id has the epochs 0 to 32,767; the last one is only for
markers. The transactional id then gets a new producer id, and each story asks what the old one may still do.
"""

from fauxka.protocol.messages.init_producer_id import InitProducerIdResponse

from .capture_recorder import Recorder, main
from .transaction_story import INIT_VERSION, NEW_END, NEW_PRODUCE, OLD_END, OLD_PRODUCE, Story

LAST_EPOCH = 32_766
# The requests that are under way at a time while epochs are used up.
PIPELINED = 500


def _use_up_epochs(story: Story) -> None:
    """Ask for new epochs until the producer has LAST_EPOCH."""
    epoch = 0
    while epoch < LAST_EPOCH:
        count = min(PIPELINED, LAST_EPOCH - epoch)
        last = story.recorder.connection.repeat(story.init_request(), INIT_VERSION, count)
        assert isinstance(last, InitProducerIdResponse)
        epoch += count
        assert (last.error_code, last.producer_id, last.producer_epoch) == (0, story.producer_id, epoch), last


def _with_the_old_id(story: Story, old: tuple[int, int], sequence: int) -> None:
    """Record what the old producer id and epoch may do."""
    for version in (10, OLD_PRODUCE, NEW_PRODUCE):
        story.produce("a partition of the old id", old, sequence, version=version)
        story.produce("another partition", old, 0, version=version, partition=1)
    story.produce("a duplicate", old, 0, version=OLD_PRODUCE)
    story.produce("a duplicate", old, 0, version=NEW_PRODUCE)
    story.produce_idempotent("idempotent", old, sequence)
    story.produce_idempotent("idempotent in another partition", old, 0, partition=2)
    marker = (old[0], old[1] + 1)
    story.produce("in the epoch of markers", marker, 0, version=OLD_PRODUCE)
    story.produce("in the epoch of markers", marker, 0, version=NEW_PRODUCE)
    story.produce("in the epoch of markers in another partition", marker, 0, version=NEW_PRODUCE, partition=1)
    story.add("AddPartitionsToTxn", old, 0)
    story.wait_for_group()
    story.commit_offset("TxnOffsetCommit", old, 4)
    story.commit_offset("TxnOffsetCommit", old, 5)
    for version in (OLD_END, NEW_END):
        story.end("commit with the old id", old, version)
        story.end("abort with the old id", old, version, is_commit=False)
    story.producers("producers")


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _before_kip_890(recorder)
    _with_kip_890(recorder)


def _before_kip_890(recorder: Recorder) -> None:
    story = Story(recorder, "v1")
    _use_up_epochs(story)
    old = (story.producer_id, LAST_EPOCH)
    story.add("AddPartitionsToTxn in the last epoch", old, 0)
    story.produce("Produce in the last epoch", old, 0, version=OLD_PRODUCE)
    story.end("commit in the last epoch", old, OLD_END)
    story.wait_for_completion()
    story.producers("producers before")
    new = story.init("the epoch after the last one", old)
    story.init("the same again", old)
    _with_the_old_id(story, old, 1)
    producer = (new.producer_id, new.producer_epoch)
    story.produce("the new id", producer, 0, version=NEW_PRODUCE)
    story.end("commit with the new id", producer, NEW_END)


def _with_kip_890(recorder: Recorder) -> None:
    story = Story(recorder, "v2")
    _use_up_epochs(story)
    old = (story.producer_id, LAST_EPOCH)
    story.produce("Produce in the last epoch", old, 0, version=NEW_PRODUCE)
    after = story.end("commit in the last epoch", old, NEW_END)
    story.wait_for_completion()
    story.producers("producers before")
    _with_the_old_id(story, old, 1)
    producer = (after.producer_id, after.producer_epoch)
    story.produce("the new id", producer, 0, version=NEW_PRODUCE)
    story.produce("the old id in the new transaction", old, 1, version=NEW_PRODUCE)
    story.end("commit with the new id", producer, NEW_END)


if __name__ == "__main__":
    main(capture)
