"""Changes of groups of the consumer protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..group.typed_groups import GroupChange, TypedGroupStore
from .group import ConsumerGroup

if TYPE_CHECKING:
    from ..coordinator_log import CoordinatorRecord

# Returns whether a client may describe the topic of that name.
MayDescribe = Callable[[str], bool]

ConsumerGroupStore = TypedGroupStore[ConsumerGroup]


class ConsumerGroupChange(GroupChange[ConsumerGroup]):
    """A change of a group that is not committed yet.

    may_describe: whether the client of the request may describe a topic; None if it may describe all.
    """

    __slots__ = ("may_describe",)

    def __init__(self, group: ConsumerGroup, replaced: Sequence[CoordinatorRecord] = ()) -> None:
        """Create a change without records. replaced: the tombstones of the classic group that the group replaces."""
        super().__init__(group, replaced)
        self.may_describe: MayDescribe | None = None
