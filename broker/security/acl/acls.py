"""The ACLs of a cluster (Kafka: image/AclsImage), and filters for them (AclBindingFilter).

What is asked about a resource costs the same however many ACLs there are for other resources and other clients:

- The ACLs of a pattern are found by its type and name: the literal ones in a dictionary, the prefixed ones in the tree
  of prefix_tree.
- What the ACLs of a pattern say about a principal from a host is one number, the rights. The patterns are stored for
  each of these clients alone, with the rights as their values.
- An ACL is added and removed by itself; nothing is built again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from ....protocol.acl_types import WILDCARD, AclOperation, AclPermission, PatternType, ResourceType
from .prefix_tree import PrefixTree

Value = TypeVar("Value")


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


# A set of permissions for operations, as bits.
Rights = int
# A principal and a host, as in an ACL.
AclClient = tuple[str, str]


def right(operation: AclOperation, permission: AclPermission) -> Rights:
    """Return the bit of a permission for an operation."""
    return 1 << 2 * operation + (permission is AclPermission.ALLOW)


class Patterns(Generic[Value]):
    """Patterns of one resource type, each with a value."""

    __slots__ = ("_literal", "_prefixed", "_prefixes")

    def __init__(self) -> None:
        """Create it without patterns."""
        self._literal: dict[str, Value] = {}
        self._prefixed: dict[str, Value] = {}
        # The keys of _prefixed.
        self._prefixes = PrefixTree()

    def __bool__(self) -> bool:
        """Return whether there is a pattern."""
        return bool(self._literal or self._prefixed)

    def find(self, pattern_type: PatternType, name: str) -> Value | None:
        """Return the value of a pattern, or None."""
        return (self._prefixed if pattern_type is PatternType.PREFIXED else self._literal).get(name)

    def put(self, pattern_type: PatternType, name: str, value: Value) -> None:
        """Add a pattern, or replace its value."""
        if pattern_type is not PatternType.PREFIXED:
            self._literal[name] = value
            return
        if name not in self._prefixed:
            self._prefixes.add(name)
        self._prefixed[name] = value

    def remove(self, pattern_type: PatternType, name: str) -> None:
        """Remove a pattern, which must be there."""
        if pattern_type is not PatternType.PREFIXED:
            del self._literal[name]
            return
        del self._prefixed[name]
        self._prefixes.remove(name)

    def of_resource(self, name: str) -> Iterator[Value]:
        """Yield the values of the patterns that cover a resource."""
        literal = self._literal
        if literal:
            if name in literal:
                yield literal[name]
            if name != WILDCARD and WILDCARD in literal:
                yield literal[WILDCARD]
        if self._prefixed:
            yield from self.of_prefixes(name)

    def of_prefixes(self, name: str) -> Iterator[Value]:
        """Yield the values of the prefixes that a name begins with."""
        return map(self._prefixed.__getitem__, self._prefixes.prefixes_of(name))

    def items(self) -> Iterator[tuple[PatternType, str, Value]]:
        """Yield each pattern with its value."""
        for name, value in self._literal.items():
            yield PatternType.LITERAL, name, value
        for name, value in self._prefixed.items():
            yield PatternType.PREFIXED, name, value


class Acls:
    """The ACLs in the order of their creation; each is there once."""

    def __init__(self) -> None:
        """Create it without ACLs."""
        # With a number that grows in this order.
        self._acls: dict[AclBinding, int] = {}
        self._last_number = 0
        self._by_type: dict[ResourceType, Patterns[dict[AclBinding, None]]] = {}
        self._by_client: dict[AclClient, dict[ResourceType, Patterns[Rights]]] = {}

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
        self._last_number += 1
        self._acls[acl] = self._last_number
        pattern = acl.pattern_type, acl.name
        of_type = _patterns_in(self._by_type, acl.resource_type)
        of_pattern = of_type.find(*pattern)
        if of_pattern is None:
            of_type.put(*pattern, {acl: None})
        else:
            of_pattern[acl] = None
        of_client = _patterns_in(self._by_client.setdefault((acl.principal, acl.host), {}), acl.resource_type)
        of_client.put(*pattern, (of_client.find(*pattern) or 0) | right(acl.operation, acl.permission))

    def discard(self, acl: AclBinding) -> None:
        """Remove an ACL if it is there."""
        if self._acls.pop(acl, None) is None:
            return
        pattern = acl.pattern_type, acl.name
        of_type = self._by_type[acl.resource_type]
        of_pattern = of_type.find(*pattern) or {}
        del of_pattern[acl]
        if not of_pattern:
            of_type.remove(*pattern)
        types_of_client = self._by_client[acl.principal, acl.host]
        of_client = types_of_client[acl.resource_type]
        rights = (of_client.find(*pattern) or 0) & ~right(acl.operation, acl.permission)
        if rights:
            of_client.put(*pattern, rights)
            return
        of_client.remove(*pattern)
        if not of_client:
            del types_of_client[acl.resource_type]
        if not types_of_client:
            del self._by_client[acl.principal, acl.host]

    def covers(self, resource_type: ResourceType, name: str) -> bool:
        """Return whether the pattern of any ACL covers a resource."""
        of_type = self._by_type.get(resource_type)
        return of_type is not None and any(True for _ in of_type.of_resource(name))

    def rights_of(self, client: AclClient, resource_type: ResourceType) -> Patterns[Rights] | None:
        """Return the patterns of a resource type that have ACLs of exactly this client; None if there are none."""
        of_client = self._by_client.get(client)
        return None if of_client is None else of_client.get(resource_type)

    def candidates(self, acl_filter: AclFilter) -> list[AclBinding]:
        """Return the ACLs that a filter may mean, in the order of their creation: those of its patterns."""
        name, pattern_type = acl_filter.name, acl_filter.pattern_type
        if name is None:
            return list(self)
        found: list[AclBinding] = []
        for resource_type, patterns in self._by_type.items():
            if acl_filter.resource_type not in (ResourceType.ANY, resource_type):
                continue
            if pattern_type is PatternType.MATCH:
                of_patterns = patterns.of_resource(name)
            else:
                of_patterns = (patterns.find(each, name) or {} for each in (PatternType.LITERAL, PatternType.PREFIXED))
            found += chain.from_iterable(of_patterns)
        return sorted(found, key=self._acls.__getitem__)

    def matching(self, acl_filter: AclFilter) -> list[AclBinding]:
        """Return the ACLs that a filter means."""
        return [acl for acl in self.candidates(acl_filter) if acl_filter.matches(acl)]


def _patterns_in(by_type: dict[ResourceType, Patterns[Value]], resource_type: ResourceType) -> Patterns[Value]:
    """Return the patterns of a type, which are added without one if there are none."""
    patterns = by_type.get(resource_type)
    if patterns is None:
        patterns = by_type[resource_type] = Patterns()
    return patterns
