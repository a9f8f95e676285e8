"""A member of a share group that acquires and acknowledges what a test says."""

from __future__ import annotations

from typing import Self

from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from fauxka.protocol.messages.share_fetch import AcknowledgementBatch as FetchAcknowledgement
from fauxka.protocol.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest, ShareFetchResponse
from fauxka.protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from .message_client import MessageClient

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
GROUP_RESOURCE = 32
# As consumers do. After a start of the broker, a first fetch that does not wait gets no records.
MAX_WAIT_MS = 500
# As many as a consumer asks for by default. Fewer are never exceeded (share_acquire_mode).
RECORDS_MAX = 500
# First and last offset, and the delivery count.
Range = tuple[int, int, int]


class ShareMember:
    """One member with its own connection, which reads one topic."""

    def __init__(self, address: str, member: tuple[str, str], topic: tuple[str, bytes]) -> None:
        """member: group and member id. topic: name and id."""
        self.connection = MessageClient(address)
        self.group, self.member_id = member
        self._topic, self._topic_id = topic
        # Of the share session.
        self._epoch = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, which ends the session."""
        self.connection.close()

    def configure(self, **configs: str) -> None:
        """Set configs of the group, such as auto_offset_reset for share.auto.offset.reset."""
        entries = [
            AlterableConfig(name=f"share.{name.replace('_', '.')}", config_operation=0, value=value)
            for name, value in configs.items()
        ]
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=self.group, configs=entries)
        self.connection.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)

    def beat(self, epoch: int) -> ShareGroupHeartbeatResponse:
        """Send a heartbeat with this member epoch; 0 joins."""
        names = [self._topic] if epoch == 0 else None
        request = ShareGroupHeartbeatRequest(
            group_id=self.group, member_id=self.member_id, member_epoch=epoch, subscribed_topic_names=names
        )
        return self.connection.call(request, 1, ShareGroupHeartbeatResponse)

    def fetch(
        self, *accepted: tuple[int, int], partition: int = 0, records_max: int = RECORDS_MAX, wait_ms: int = MAX_WAIT_MS
    ) -> list[Range]:
        """Accept ranges of records, and return what was acquired."""
        request = self._fetch_request(partition, records_max, wait_ms)
        request.topics[0].partitions[0].acknowledgement_batches = [
            FetchAcknowledgement(first_offset=first, last_offset=last, acknowledge_types=[ACCEPT])
            for first, last in accepted
        ]
        response = self.connection.call(request, 2)
        assert isinstance(response, ShareFetchResponse) and response.error_code == 0, response
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for answer in response.responses
            for each in answer.partitions[0].acquired_records
        ]

    def start_fetch(self) -> None:
        """Send a fetch without reading its response."""
        self.connection.send(self._fetch_request(0, RECORDS_MAX, MAX_WAIT_MS), 2)

    def _fetch_request(self, partition: int, records_max: int, wait_ms: int) -> ShareFetchRequest:
        topic = FetchTopic(topic_id=self._topic_id, partitions=[FetchPartition(partition_index=partition)])
        self._epoch += 1
        return ShareFetchRequest(
            group_id=self.group,
            member_id=self.member_id,
            share_session_epoch=self._epoch - 1,
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=1_000_000,
            max_records=records_max,
            batch_size=records_max,
            share_acquire_mode=int(records_max < RECORDS_MAX),
            topics=[topic],
        )

    def acknowledge(self, first: int, last: int, how: int, *, partition: int = 0, is_renewal: bool = False) -> int:
        """Acknowledge records, and return the error code of the partition."""
        batches = [AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[how])]
        acknowledged = AcknowledgePartition(partition_index=partition, acknowledgement_batches=batches)
        topic = AcknowledgeTopic(topic_id=self._topic_id, partitions=[acknowledged])
        self._epoch += 1
        request = ShareAcknowledgeRequest(
            group_id=self.group,
            member_id=self.member_id,
            share_session_epoch=self._epoch - 1,
            is_renew_ack=is_renewal,
            topics=[topic],
        )
        response = self.connection.call(request, 2, ShareAcknowledgeResponse)
        assert response.error_code == 0, response
        return response.responses[0].partitions[0].error_code

    def described(self) -> ShareGroupDescribeResponse:
        """Return the description of the group."""
        return self.connection.call(ShareGroupDescribeRequest(group_ids=[self.group]), 1, ShareGroupDescribeResponse)
