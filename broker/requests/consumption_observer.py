"""The Protocol of what records the deliveries and commits of consumers, for the verdict on a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...faults.consumption.events import ClientRequest, Event, Offset, ShareRequest
    from ...protocol.fetch_codec import FetchedPartitions


class ConsumptionObserver(Protocol):
    """Records what consumers get and what groups commit."""

    def fetched(self, request: ClientRequest, answers: FetchedPartitions, /) -> None:
        """Record what a Fetch returns, before its response is written."""
        ...

    def sharing(self, request: ShareRequest, /) -> None:
        """Record a ShareFetch or ShareAcknowledge, before it is handled."""
        ...

    def asked(self, request: ClientRequest, group: str, topic: str, partitions: Sequence[int], /) -> None:
        """Record that a client has asked for the committed offsets of partitions."""
        ...

    def committing(self, request: ClientRequest, commit: tuple[str, str, int], offsets: Sequence[Offset], /) -> None:
        """Record a commit before it is handled. commit: the group, the member and its generation or epoch."""
        ...

    def refused(self, error_code: int, /) -> None:
        """Record that the commit that was reported last is refused as a whole."""
        ...

    def add(self, event: Event, /) -> None:
        """Record a change of a group."""
        ...
