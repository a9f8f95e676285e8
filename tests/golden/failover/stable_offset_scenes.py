"""The last stable offset of transactions whose marker is above the high watermark.

The topics have one partition with leader 1 and followers 2 and 3, and min.insync.replicas 3. Node 3 is frozen before
the markers are written, so that the high watermark stays below them. A replica that was loaded from its files takes
such a transaction for ended: Kafka keeps it unstable in memory only.
"""

from fauxka.protocol.messages.init_producer_id import InitProducerIdResponse
from fauxka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from . import coordinator_requests as requests
from .coordinator_requests import Producer
from .internal_topics import create_internal_topics
from .recorder import FailoverRecorder
from .requests import READ_COMMITTED, Topic, fetching, in_transaction, listing_offsets, producing

LAYOUT = [[1, 2, 3]]
RECORDS = 2
# Longer than the script.
TRANSACTION_TIMEOUT_MS = 600_000
# Longer than replica.high.watermark.checkpoint.interval.ms.
CHECKPOINT_SECONDS = 7.0


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    recorder.scene("all in sync")
    create_internal_topics(recorder)
    topics = [recorder.create(name, LAYOUT, min_insync_replicas="3") for name in ("committed", "aborted")]
    producers = [_open(recorder, topic) for topic in topics]
    for topic in topics:
        recorder.until_high_watermark(topic, RECORDS, 1, 2, 3)
    _visible(recorder, topics, 1)
    recorder.scene("markers above the high watermark")
    recorder.freeze(3, noticed=False)
    for topic, producer in zip(topics, producers, strict=True):
        # The response comes when node 3 is back, or not at all because node 1 has ended.
        recorder.waiting(1, "write a marker", 1, _marking(topic, producer))
    recorder.settle()
    _visible(recorder, topics, 1)
    recorder.scene("the leader was killed")
    recorder.pause(CHECKPOINT_SECONDS)
    recorder.kill(1)
    _visible(recorder, topics, 2)
    recorder.scene("the leader is back")
    recorder.start(1)
    _visible(recorder, topics, 2)
    recorder.electing()
    _visible(recorder, topics, 1)
    recorder.scene("the leader was stopped and is back")
    recorder.stop(1)
    recorder.start(1)
    recorder.electing()
    _visible(recorder, topics, 1)
    recorder.scene("all in sync again")
    recorder.thaw(3)
    for topic in topics:
        recorder.until_high_watermark(topic, RECORDS + 1, 1, 2, 3)
    _visible(recorder, topics, 1)


def _open(recorder: FailoverRecorder, topic: Topic) -> Producer:
    """Write records in a transaction that stays open."""
    request = requests.initialising(topic.name)
    request.transaction_timeout_ms = TRANSACTION_TIMEOUT_MS
    response = recorder.retried_case(1, f"initialise {topic.name}", 4, request)
    assert isinstance(response, InitProducerIdResponse)
    producer = Producer(topic.name, response.producer_id, response.producer_epoch)
    recorder.case(1, f"add {topic.name}", 3, producer.adding(topic))
    produced = producing(topic, in_transaction(RECORDS, (producer.producer_id, producer.epoch, 0)))
    produced.transactional_id = producer.transactional_id
    recorder.case(1, f"produce to {topic.name}", 11, produced)
    return producer


def _marking(topic: Topic, producer: Producer) -> WriteTxnMarkersRequest:
    """Return the request of a coordinator."""
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=topic.name == "committed",
        topics=[WritableTxnMarkerTopic(name=topic.name, partition_indexes=[0])],
    )
    return WriteTxnMarkersRequest(markers=[marker])


def _visible(recorder: FailoverRecorder, topics: list[Topic], leader: int) -> None:
    for topic in topics:
        for name, isolation_level in (("latest", 0), ("latest committed", READ_COMMITTED)):
            request = listing_offsets(topic, -1, isolation_level=isolation_level)
            recorder.case(leader, f"{name} offset of {topic.name}", 8, request)
        fetched = fetching(topic, 0)
        fetched.isolation_level = READ_COMMITTED
        for node in sorted(recorder.live):
            recorder.case(node, f"fetch {topic.name}", 12, fetched)
