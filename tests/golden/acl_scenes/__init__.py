"""The cases of capture_acls by subject."""

from ..acl_recorder import AclCase
from . import (
    acl_requests,
    cluster,
    configs,
    groups,
    judging,
    metadata,
    offsets,
    producing,
    reading,
    sharing,
    streaming,
    topics,
    transactions,
)

CASES: list[AclCase] = [
    *judging.CASES,
    *producing.CASES,
    *reading.CASES,
    *metadata.CASES,
    *topics.CASES,
    *groups.CASES,
    *offsets.CASES,
    *transactions.CASES,
    *sharing.CASES,
    *configs.CASES,
    *cluster.CASES,
    *acl_requests.CASES,
    *streaming.CASES,
]
