"""Reads ACLs and filters from requests, and validates them (Kafka: AclControlManager, AclApis).

Source: AclControlManager.validateNewAcl and validateFilter, AclApis.handleCreateAcls, Kafka 4.3.0;
tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar

from ...protocol.acl_types import CLUSTER_NAME, AclOperation, AclPermission, PatternType, ResourceType
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.frames import FrameError
from ..security.acl.acls import AclBinding, AclFilter

if TYPE_CHECKING:
    from ...protocol.messages.create_acls import AclCreation
    from ...protocol.messages.delete_acls import DeleteAclsFilter
    from ...protocol.messages.describe_acls import DescribeAclsRequest
    from ..security.acl.standard_authorizer import StandardAuthorizer

Word = TypeVar("Word", bound=IntEnum)

# What a filter may have, and an ACL may not.
_OF_FILTERS = frozenset({"ANY", "MATCH"})
_UNKNOWN = "UNKNOWN"


def check_known(numbers: Iterable[int]) -> None:
    """Raise FrameError if a request has the number of UNKNOWN."""
    if 0 in numbers:
        raise FrameError("a type, operation or permission of ACLs that is unknown")


def numbers_of(requested: DescribeAclsRequest | DeleteAclsFilter) -> tuple[int, ...]:
    """Return the types, the operation and the permission of a filter."""
    return (
        requested.resource_type_filter,
        requested.pattern_type_filter,
        requested.operation,
        requested.permission_type,
    )


def is_of_filter(acl: AclBinding) -> bool:
    """Return whether an ACL has ANY or MATCH, which only a filter may have."""
    return any(word.name in _OF_FILTERS for word in acl if isinstance(word, IntEnum))


def check_acl(acl: AclBinding) -> None:
    """Raise KafkaError INVALID_REQUEST, with Kafka's message, for an ACL that cannot be."""
    if acl.resource_type is ResourceType.CLUSTER and acl.name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not acl.name:
        raise _invalid("Invalid empty resource name")
    words: dict[str, IntEnum] = {
        "resourceType": acl.resource_type,
        "patternType": acl.pattern_type,
        "operation": acl.operation,
        "permissionType": acl.permission,
    }
    for kind, word in words.items():
        if word.name in (_UNKNOWN, *_OF_FILTERS):
            raise _invalid(f"Invalid {kind} {word.name}")
    if ":" not in acl.principal:
        raise _invalid(
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal type from "
            "the principal name)"
        )


def check_filter(acl_filter: AclFilter) -> None:
    """Raise KafkaError INVALID_REQUEST, with Kafka's message, for a filter with an unknown word."""
    pattern, entry = (acl_filter.resource_type, acl_filter.pattern_type), (acl_filter.operation, acl_filter.permission)
    for kind, words in (("patternFilter", pattern), ("entryFilter", entry)):
        if any(word.name == _UNKNOWN for word in words):
            raise _invalid(f"Unknown {kind}.")


def acl_of(creation: AclCreation) -> AclBinding:
    """Return the ACL that CreateAcls asks for. Numbers without a meaning become UNKNOWN."""
    return AclBinding(
        _word_of(ResourceType, creation.resource_type),
        creation.resource_name,
        _word_of(PatternType, creation.resource_pattern_type),
        creation.principal,
        creation.host,
        _word_of(AclOperation, creation.operation),
        _word_of(AclPermission, creation.permission_type),
    )


def filter_of(requested: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """Return the filter of a request. Numbers without a meaning become UNKNOWN."""
    return AclFilter(
        _word_of(ResourceType, requested.resource_type_filter),
        requested.resource_name_filter,
        _word_of(PatternType, requested.pattern_type_filter),
        requested.principal_filter,
        requested.host_filter,
        _word_of(AclOperation, requested.operation),
        _word_of(AclPermission, requested.permission_type),
    )


def check_authorizer(authorizer: StandardAuthorizer | None) -> None:
    """Raise KafkaError SECURITY_DISABLED without an authorizer."""
    if authorizer is None:
        raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")


def _word_of(words: type[Word], number: int) -> Word:
    return words(number) if number in list(words) else words[_UNKNOWN]


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
