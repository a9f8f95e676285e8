"""A shop with the same requests, times and ids in each run, for pictures of the page and checks of all its views."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from ..admin.admin_client import AdminClient
from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError

# 2040-01-01 09:30:00 UTC: after the time of the machine, because the clock is only advanced.
BEGIN_MS = 2_209_023_000_000
# Clients keep the time of the machine; the records of the shop have that of its clock.
CONFIGS = (
    *("-c", "log.message.timestamp.after.max.ms=9223372036854775807"),
    *("-c", "group.consumer.assignment.interval.ms=0"),
    *("-c", "fauxka.busy.poll.us=0"),
)
# Between two requests.
STEP_MS = 7
# The last versions with topic names.
VERSIONS: dict[type[RequestMessage], int] = {
    ApiVersionsRequest: 3,
    MetadataRequest: 9,
    FindCoordinatorRequest: 4,
    InitProducerIdRequest: 4,
    ProduceRequest: 9,
    FetchRequest: 12,
    OffsetCommitRequest: 9,
    ConsumerGroupHeartbeatRequest: 1,
}
ORDERS, PAYMENTS, PARCELS = "orders", "payments", "parcels"
TOPICS = {ORDERS: 2, PAYMENTS: 1, PARCELS: 1}
GROUP = "billing"
MEMBERS = ("billing-1", "billing-2")
TRANSACTIONAL_ID = "payouts"
GOODS = ("espresso", "flat white", "cortado", "filter coffee", "cold brew")


class Member:
    """A member of the consumer group."""

    def __init__(self, name: str, connection: MessageClient) -> None:
        self.connection = connection
        self._name = name
        self._epoch = 0
        self._partitions: list[TopicPartitions] = []

    def heartbeat_request(self) -> ConsumerGroupHeartbeatRequest:
        """Return the request that joins, or reports what the member has."""
        return ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self._name,
            member_epoch=self._epoch,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=[ORDERS],
            topic_partitions=self._partitions,
        )

    def received(self, response: ConsumerGroupHeartbeatResponse) -> None:
        """Take the epoch and the partitions of a response."""
        self._epoch = response.member_epoch
        if response.assignment is not None:
            self._partitions = [
                TopicPartitions(topic_id=each.topic_id, partitions=each.partitions)
                for each in response.assignment.topic_partitions
            ]

    def commit_request(self, topic: str, offsets: dict[int, int]) -> OffsetCommitRequest:
        """Return the request that commits offsets by partition."""
        partitions = [
            OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
            for partition, offset in offsets.items()
        ]
        return OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=self._epoch,
            member_id=self._name,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
        )


class Shop:
    """Sends the requests, each at a time of its own on the broker's manual clock."""

    def __init__(self, bootstrap: str, admin: AdminClient, connections: ExitStack) -> None:
        self._bootstrap = bootstrap
        self._admin = admin
        self._connections = connections
        stop_clock(admin)
        for name, partitions in TOPICS.items():
            admin.post("/v1/topics", {"name": name, "partitions": partitions})

    def connect(self, client_id: str) -> MessageClient:
        """Return a connection that has asked for the versions and the topics, as a client's first one does."""
        connection = MessageClient(self._bootstrap, client_id)
        self._connections.callback(connection.close)
        self.call(connection, ApiVersionsRequest(client_software_name="shop", client_software_version="1.0"))
        self.call(connection, MetadataRequest(topics=[MetadataRequestTopic(name=ORDERS)]))
        return connection

    def call(self, connection: MessageClient, request: RequestMessage) -> object:
        """Send a request and return its response."""
        self._admin.post("/v1/clock", {"advance_ms": STEP_MS})
        return connection.call(request, VERSIONS[type(request)])

    def order(self, connection: MessageClient, number: int, *, partition: int = 0) -> None:
        """Produce an order with producer 0. number: its sequence."""
        options = BatchOptions(producer_id=0, producer_epoch=0, base_sequence=number)
        self.call(connection, produce_request(ORDERS, partition, order_record(number), options))

    def pay(self, connection: MessageClient, number: int) -> None:
        """Produce a payment without idempotence."""
        self.call(connection, produce_request(PAYMENTS, 0, order_record(number), BatchOptions()))

    def lose_next_acknowledgement(self, topic: str) -> None:
        """Add a rule that closes the connection after the next batch of a topic is appended."""
        rule = {"match": {"api": "Produce", "topic": topic}, "point": "applied", "action": {"kind": "close"}}
        self._admin.post("/v1/rules", {"name": "lost ack", **rule})

    def take_orders(self) -> None:
        """Produce five orders. The acknowledgement of the third is lost, and it is sent again."""
        shop = self.connect("shop")
        self.call(shop, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000))
        for number in (0, 1):
            self.order(shop, number)
        self.lose_next_acknowledgement(ORDERS)
        with suppress(ConnectionClosedError):
            self.order(shop, 2)
        shop = self.connect("shop")
        for number in (2, 3, 4):
            self.order(shop, number)
        for number in (0, 1):
            self.order(shop, number, partition=1)

    def take_payments(self) -> None:
        """Produce two payments. The second is stored twice, because its producer is not idempotent."""
        till = self.connect("till")
        self.pay(till, 0)
        self.lose_next_acknowledgement(PAYMENTS)
        with suppress(ConnectionClosedError):
            self.pay(till, 1)
        self.pay(self.connect("till"), 1)

    def bill(self) -> None:
        """Read orders with the two members of a group. The second one commits what they have read."""
        members = [Member(name, self.connect(name)) for name in MEMBERS]
        # The first member joins, gives a partition to the second one, and both have theirs.
        for member in (*members, *members, *members):
            response = self.call(member.connection, member.heartbeat_request())
            assert isinstance(response, ConsumerGroupHeartbeatResponse)
            member.received(response)
        first, second = members
        self.call(first.connection, fetch_request(ORDERS))
        self.call(second.connection, second.commit_request(ORDERS, {0: 4, 1: 2}))

    def pay_out(self) -> None:
        """Begin with a transactional id, which has no transaction then."""
        payouts = self.connect("payouts")
        # The first lookup makes the broker create the topic of the transactions.
        self.call(payouts, FindCoordinatorRequest(key_type=1, coordinator_keys=[TRANSACTIONAL_ID]))
        self.call(payouts, InitProducerIdRequest(transactional_id=TRANSACTIONAL_ID, transaction_timeout_ms=60_000))

    def hold_parcel(self) -> None:
        """Send a parcel that the broker holds."""
        match = {"api": "Produce", "topic": PARCELS}
        self._admin.post("/v1/rules", {"name": "held", "match": match, "point": "received", "action": {"kind": "hold"}})
        courier = self.connect("courier")
        courier.send(produce_request(PARCELS, 0, order_record(0), BatchOptions()), VERSIONS[ProduceRequest])

    def do_everything(self) -> None:
        """Fill every view."""
        self.take_orders()
        self.take_payments()
        self.bill()
        self.pay_out()
        self.hold_parcel()


def stop_clock(admin: AdminClient) -> None:
    """Have the broker's clock stand at BEGIN_MS."""
    now_ms = admin.post("/v1/clock", {"mode": "manual"})["now_ms"]
    admin.post("/v1/clock", {"advance_ms": BEGIN_MS - now_ms})


@contextmanager
def open_shop(bootstrap: str, admin: AdminClient) -> Generator[Shop]:
    """Stop the broker's clock and create the topics. The connections stay open in the block."""
    with ExitStack() as connections:
        yield Shop(bootstrap, admin, connections)


def order_record(number: int) -> Record:
    """Return an order as JSON."""
    value = f'{{"order": {1001 + number}, "item": "{GOODS[number % len(GOODS)]}", "price": {3.2 + number / 10:.2f}}}'
    headers = (("event-id", b"order-%d" % (1001 + number)), ("source", b"shop"))
    return Record(value.encode(), key=b"customer-%d" % (7 + number), headers=headers, timestamp=BEGIN_MS + number)


def produce_request(topic: str, partition: int, record: Record, options: BatchOptions) -> ProduceRequest:
    """Return the request for a batch of one record."""
    data = PartitionProduceData(index=partition, records=build_batch([record], options))
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=[data])])


def fetch_request(topic: str) -> FetchRequest:
    """Return the request for partition 0 of a topic from its beginning."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=topic, partitions=[partition])]
    return FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=topics)
