"""Transactions while their coordinator dies, is killed with the leader of their partition, and returns.

Node 1 is the coordinator of transactions and groups and the leader of "data"; node 3 leads "other".
"""

from fauxka.protocol.messages.describe_transactions import DescribeTransactionsResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdResponse

from . import coordinator_requests as requests
from .coordinator_requests import Producer
from .internal_topics import create_internal_topics
from .recorder import FailoverRecorder
from .requests import (
    READ_COMMITTED,
    Topic,
    describing_producers,
    fetching,
    in_transaction,
    listing_offsets,
    producing,
)

GROUP = "group"
# AddPartitionsToTxn of clients, and the newest versions without and with an epoch for each transaction (KIP-890).
ADD_VERSION = 3
END_BEFORE, END_AFTER = 4, 5
PRODUCE_BEFORE, PRODUCE_AFTER = 11, 12
IDS = ("none", "initialised", "committed", "aborted", "continued", "offsets", "newest")
COMPLETE = {"CompleteCommit", "CompleteAbort"}


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    recorder.scene("coordinator on node 1")
    create_internal_topics(recorder)
    topics = [recorder.create("data", [[1, 2, 3]]), recorder.create("other", [[3, 2, 1]])]
    producers = {each: _initialised(recorder, 1, each) for each in IDS}
    for name, producer in producers.items():
        if name != "none":
            _open(recorder, producer, topics)
    recorder.case(1, "commit offsets", 3, producers["offsets"].committing(GROUP, topics[0], 7))
    _visible(recorder, topics, leader=1)
    _described(recorder)
    _wrong_node(recorder, producers["continued"], topics[0])
    recorder.kill(1)
    recorder.scene("the coordinator was killed")
    _ended(recorder, producers, topics)
    recorder.start(1)
    recorder.scene("the coordinator is back and elected")
    recorder.electing()
    _described(recorder)
    _visible(recorder, topics, leader=1)
    recorder.scene("the coordinator stopped")
    again = _initialised(recorder, 1, "again")
    _open(recorder, again, topics)
    recorder.stop(1)
    _end(recorder, again, committed=True)
    _visible(recorder, topics, leader=2)
    recorder.start(1)


def _initialised(recorder: FailoverRecorder, node: int, transactional_id: str) -> Producer:
    request = requests.initialising(transactional_id)
    response = recorder.retried_case(node, f"initialise {transactional_id}", 4, request)
    assert isinstance(response, InitProducerIdResponse)
    return Producer(transactional_id, response.producer_id, response.producer_epoch)


def _open(recorder: FailoverRecorder, producer: Producer, topics: list[Topic]) -> None:
    """Write a record to each topic."""
    is_newest = producer.transactional_id == "newest"
    for topic in topics:
        name = f"{topic.name} of {producer.transactional_id}"
        if not is_newest:
            recorder.case(1, f"add {name}", ADD_VERSION, producer.adding(topic))
        request = producing(topic, in_transaction(1, (producer.producer_id, producer.epoch, 0)))
        request.transactional_id = producer.transactional_id
        leader = topic.layout[0][0]
        recorder.case(leader, f"produce to {name}", PRODUCE_AFTER if is_newest else PRODUCE_BEFORE, request)
    if producer.transactional_id == "offsets":
        recorder.case(1, "add the offsets of a group", 3, producer.adding_offsets(GROUP))


def _visible(recorder: FailoverRecorder, topics: list[Topic], *, leader: int) -> None:
    for topic, node in zip(topics, (leader, 3), strict=True):
        for name, isolation_level in (("latest", 0), ("latest committed", READ_COMMITTED)):
            request = listing_offsets(topic, -1, isolation_level=isolation_level)
            recorder.case(node, f"{name} offset of {topic.name}", 8, request)
        fetched = fetching(topic, 0)
        fetched.isolation_level = READ_COMMITTED
        recorder.case(node, f"fetch {topic.name}", 12, fetched)
        for each in sorted(recorder.live):
            recorder.case(each, f"producers of {topic.name}", 0, describing_producers(topic))


def _described(recorder: FailoverRecorder) -> None:
    for node in sorted(recorder.live):
        recorder.case(node, "find the coordinator", 6, requests.finding("open", requests.TRANSACTION_KEY))
        recorder.case(node, "transactions", 0, requests.describing_transactions(*IDS))
        recorder.case(node, "listed", 1, requests.listing_transactions())


def _wrong_node(recorder: FailoverRecorder, producer: Producer, topic: Topic) -> None:
    recorder.scene("not the coordinator")
    recorder.each_version(2, "initialise", (1, 4, 5), requests.initialising("continued"))
    recorder.case(2, "add", ADD_VERSION, producer.adding(topic))
    recorder.case(2, "add the offsets of a group", 3, producer.adding_offsets(GROUP))
    recorder.each_version(2, "commit offsets", (3, 5), producer.committing(GROUP, topic, 1))
    recorder.each_version(2, "end", (END_BEFORE, END_AFTER), producer.ending(committed=True))


def _end(recorder: FailoverRecorder, producer: Producer, *, committed: bool, version: int = END_BEFORE) -> None:
    """End a transaction at node 2, and wait for its markers: those of the next one are to come after them."""
    name = producer.transactional_id
    case = f"{'commit' if committed else 'abort'} {name}"
    recorder.retried_case(2, case, version, producer.ending(committed=committed))

    def has_markers() -> bool:
        response = recorder.call(2, 0, requests.describing_transactions(name))
        assert isinstance(response, DescribeTransactionsResponse)
        return response.transaction_states[0].transaction_state in COMPLETE

    recorder.until(has_markers, lambda: name)


def _ended(recorder: FailoverRecorder, producers: dict[str, Producer], topics: list[Topic]) -> None:
    """Go on at node 2, which leads what node 1 led."""
    recorder.retried_case(2, "transactions", 0, requests.describing_transactions(*IDS))
    _visible(recorder, topics, leader=2)
    recorder.retried_case(2, "offset of the group", 8, requests.fetching_offsets(GROUP, topics[0]))
    stable = requests.fetching_offsets(GROUP, topics[0], require_stable=True)
    recorder.case(2, "stable offset of the group", 8, stable)
    _initialised(recorder, 2, "none")
    recorder.case(2, "initialise with an open transaction", 4, requests.initialising("initialised"))
    _initialised(recorder, 2, "initialised")
    _end(recorder, producers["committed"], committed=True)
    _end(recorder, producers["aborted"], committed=False)
    continued = producers["continued"]
    recorder.retried_case(2, "add again", ADD_VERSION, continued.adding(topics[0]))
    request = producing(topics[0], in_transaction(1, (continued.producer_id, continued.epoch, 1)))
    request.transactional_id = continued.transactional_id
    recorder.case(2, "produce to data of continued", PRODUCE_BEFORE, request)
    _end(recorder, continued, committed=True)
    offsets = producers["offsets"]
    recorder.retried_case(2, "commit offsets again", 3, offsets.committing(GROUP, topics[0], 8))
    _end(recorder, offsets, committed=True)
    newest = producers["newest"]
    _end(recorder, newest, committed=True, version=END_AFTER)
    recorder.case(2, "commit once more", END_BEFORE, producers["committed"].ending(committed=True))
    recorder.case(2, "commit newest once more", END_AFTER, newest.ending(committed=True))
    recorder.retried_case(2, "offset of the group after the commit", 8, stable)
    _described(recorder)
    _visible(recorder, topics, leader=2)
