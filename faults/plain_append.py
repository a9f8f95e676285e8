"""A Produce of one appended batch with a response, as the journal keeps it: nearly every request is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..storage.append_result import AppendResult
    from .request_view import ConnectionView

NS_PER_US: Final = 1000


class PlainAppend:
    """The numbers of the request and of its batch.

    Compiled, it is one object with all of them, in less memory and a tenth of the time of a tuple of objects. When the
    journal is read, the record of the request is made of it.
    """

    __slots__ = (
        "api_key",
        "api_version",
        "at_ms",
        "base_offset",
        "base_sequence",
        "client_id",
        "connection",
        "correlation_id",
        "last_offset",
        "partition",
        "producer_epoch",
        "producer_id",
        "size",
        "took_us",
        "topic",
    )

    def __init__(
        self, connection: ConnectionView, client_id: str | None, topic: str, partition: int, result: AppendResult
    ) -> None:
        """client_id: shortened. The caller sets the numbers of the request."""
        header = result.header
        self.connection = connection
        self.client_id = client_id
        self.topic = topic
        self.partition = partition
        self.base_offset = result.base_offset
        self.last_offset = result.last_offset
        self.producer_id = header.producer_id
        self.producer_epoch = header.producer_epoch
        self.base_sequence = header.base_sequence
        self.api_key = 0
        self.api_version = 0
        self.correlation_id = 0
        # Of the frame, in bytes.
        self.size = 0
        self.at_ms = 0
        self.took_us = 0
