"""The ACLs of a cluster (Kafka: image/AclsImage), and filters for them (AclBindingFilter).

ACLs are found by the name of a resource without a look at the others: the literal ones by that name and by the
wildcard, the prefixed ones by each length that a prefix has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .acl_types import WILDCARD, AclOperation, AclPermission, PatternType, ResourceType


class AclBinding(NamedTuple):
    """An ACL: what a principal may do from a host, or must not, with the resources of a pattern.

    principal: such as "User:alice". host: an address, or "*".
    """

    resource_type: ResourceType
    name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: AclOperation
    permission: AclPermission


class AclFilter(NamedTuple):
    """The ACLs that DescribeAcls and DeleteAcls mean. None stands for every name, principal or host."""

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: AclPermission = AclPermission.ANY

    def matches(self, acl: AclBinding) -> bool:
        """Return whether the filter means this ACL."""
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (AclOperation.ANY, acl.operation)
            and self.permission in (AclPermission.ANY, acl.permission)
            and self._matches_pattern(acl)
        )

    def _matches_pattern(self, acl: AclBinding) -> bool:
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, acl.pattern_type):
            return False
        if self.name is None:
            return True
        if self.pattern_type is not PatternType.MATCH:
            return self.name == acl.name
        if acl.pattern_type is PatternType.LITERAL:
            return acl.name in (self.name, WILDCARD)
        return self.name.startswith(acl.name)


# Type, pattern type and name of an ACL.
_Pattern = tuple[ResourceType, PatternType, str]


class Acls:
    """The ACLs in the order of their creation; each is there once."""

    def __init__(self) -> None:
        """Create it without ACLs."""
        self._acls: dict[AclBinding, None] = {}
        self._by_pattern: dict[_Pattern, dict[AclBinding, None]] = {}
        # How many prefixed ACLs of a type have a prefix of that length.
        self._prefix_lengths: dict[ResourceType, dict[int, int]] = {}

    def __iter__(self) -> Iterator[AclBinding]:
        """Return the ACLs in the order of their creation."""
        return iter(self._acls)

    def __len__(self) -> int:
        """Return the number of ACLs."""
        return len(self._acls)

    def __contains__(self, acl: AclBinding) -> bool:
        """Return whether this ACL is there."""
        return acl in self._acls

    def copy(self) -> Acls:
        """Return the ACLs as they are now; later changes are not in it."""
        copied = Acls()
        for acl in self:
            copied.add(acl)
        return copied

    def add(self, acl: AclBinding) -> None:
        """Add an ACL, unless it is there."""
        if acl in self._acls:
            return
        self._acls[acl] = None
        self._by_pattern.setdefault(_pattern_of(acl), {})[acl] = None
        if acl.pattern_type is PatternType.PREFIXED:
            lengths = self._prefix_lengths.setdefault(acl.resource_type, {})
            lengths[len(acl.name)] = lengths.get(len(acl.name), 0) + 1

    def discard(self, acl: AclBinding) -> None:
        """Remove an ACL if it is there."""
        if acl not in self._acls:
            return
        del self._acls[acl]
        pattern = _pattern_of(acl)
        of_pattern = self._by_pattern[pattern]
        del of_pattern[acl]
        if not of_pattern:
            del self._by_pattern[pattern]
        if acl.pattern_type is PatternType.PREFIXED:
            lengths = self._prefix_lengths[acl.resource_type]
            lengths[len(acl.name)] -= 1
            if not lengths[len(acl.name)]:
                del lengths[len(acl.name)]

    def matching(self, acl_filter: AclFilter) -> list[AclBinding]:
        """Return the ACLs that a filter means."""
        return [acl for acl in self if acl_filter.matches(acl)]

    def of_resource(self, resource_type: ResourceType, name: str) -> Iterator[AclBinding]:
        """Yield the ACLs whose pattern covers a resource."""
        yield from self._by_pattern.get((resource_type, PatternType.LITERAL, name), ())
        if name != WILDCARD:
            yield from self._by_pattern.get((resource_type, PatternType.LITERAL, WILDCARD), ())
        for length in self._prefix_lengths.get(resource_type, ()):
            if length <= len(name):
                yield from self._by_pattern.get((resource_type, PatternType.PREFIXED, name[:length]), ())


def _pattern_of(acl: AclBinding) -> _Pattern:
    return acl.resource_type, acl.pattern_type, acl.name
