"""Which assignment protocol a group's members agree on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..java_strings import java_hash_order
from .group_member import GroupMember


def has_common_protocol(members: Iterable[GroupMember], protocol_names: Iterable[str]) -> bool:
    """Return whether all members support one and the same of the names; without members any name will do."""
    supported = [{protocol.name for protocol in member.protocols} for member in members]
    return any(all(name in names for names in supported) for name in protocol_names)


def select_protocol(members: Sequence[GroupMember]) -> str:
    """Return the protocol with the most votes; each member votes for the first of its own that all members support.

    Of several with as many votes Kafka takes the first in the order of its hash table, whoever prefers it.
    Source: ClassicGroup.selectProtocol, Kafka 4.3.0.
    """
    assert members, "a group without members has no protocol"
    votes: dict[str, int] = {}
    for member in members:
        vote = next(p.name for p in member.protocols if has_common_protocol(members, [p.name]))
        votes[vote] = votes.get(vote, 0) + 1
    return max(java_hash_order(votes), key=lambda name: votes[name])
