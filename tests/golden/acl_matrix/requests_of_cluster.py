"""Requests about the cluster, its users, tokens and ACLs. Those that would change something are invalid."""

from __future__ import annotations

from .request import Field, Request, requests_of
from .requests_of_records import METRICS_TYPE, TIMEOUT_MS

ANY, LITERAL, READ, ALLOW, TOPIC = 1, 3, 3, 3, 2
# Nothing has this name.
NOBODY = "nobody"
MISSING_NODE = 99
SCRAM_SHA_256 = 1
METADATA_TOPIC = "__cluster_metadata"
# The broker refuses to renew by a group, but not before it has authorized the request.
_INVALID_RENEWERS: list[Field] = [{"principal_type": "Group", "principal_name": NOBODY}]
_FILTER: dict[str, Field] = {
    "resource_type_filter": ANY,
    "resource_name_filter": NOBODY,
    "pattern_type_filter": ANY,
    "operation": ANY,
    "permission_type": ANY,
}


def _owner(name: str) -> dict[str, Field]:
    return {"principal_type": "User", "principal_name": name}


def _created_for(name: str | None) -> dict[str, Field]:
    owner: dict[str, Field] = {} if name is None else {"owner_principal_type": "User", "owner_principal_name": name}
    return {**owner, "renewers": _INVALID_RENEWERS, "max_lifetime_ms": -1}


REQUESTS: list[Request] = [
    *requests_of("DescribeCluster", (0, 1, 2), only={"include_cluster_authorized_operations": True}),
    *requests_of(
        "DescribeQuorum",
        (0, 2),
        only={"topics": [{"topic_name": METADATA_TOPIC, "partitions": [{"partition_index": 0}]}]},
    ),
    *requests_of(
        "UpdateFeatures",
        (0, 1, 2),
        only={
            "timeout_ms": TIMEOUT_MS,
            "feature_updates": [{"feature": "no.such.feature", "max_version_level": 1, "upgrade_type": 1}],
            "validate_only": True,
        },
    ),
    *requests_of("UnregisterBroker", (0,), only={"broker_id": MISSING_NODE}),
    *requests_of("ListConfigResources", (0,), only={}),
    *requests_of("ListConfigResources", (1,), only={"resource_types": [METRICS_TYPE]}),
    *requests_of(
        "DescribeClientQuotas",
        (0, 1),
        only={"components": [{"entity_type": "user", "match_type": 0, "match": NOBODY}]},
    ),
    *requests_of(
        "AlterClientQuotas",
        (0, 1),
        only={
            "entries": [
                {
                    "entity": [{"entity_type": "user", "entity_name": NOBODY}],
                    "ops": [{"key": "producer_byte_rate", "value": 1024.0}],
                }
            ],
            "validate_only": True,
        },
    ),
    *requests_of("DescribeUserScramCredentials", (0,), only={"users": [{"name": NOBODY}]}),
    *requests_of("AlterUserScramCredentials", (0,), only={"deletions": [{"name": NOBODY, "mechanism": SCRAM_SHA_256}]}),
    *requests_of("DescribeAcls", (1, 2, 3), only=_FILTER),
    *requests_of(
        "CreateAcls",
        (1, 3),
        only={
            "creations": [
                {
                    "resource_type": TOPIC,
                    "resource_name": "",
                    "resource_pattern_type": LITERAL,
                    "principal": "User:nobody",
                    "host": "*",
                    "operation": READ,
                    "permission_type": ALLOW,
                }
            ]
        },
    ),
    *requests_of("DeleteAcls", (1, 3), only={"filters": [_FILTER]}),
    *requests_of("CreateDelegationToken", (1, 2, 3), only=_created_for(None)),
    *requests_of("CreateDelegationToken", (3,), for_bob=_created_for("bob"), for_carol=_created_for("carol")),
    *requests_of("RenewDelegationToken", (1, 2), only={"hmac": b"nothing", "renew_period_ms": -1}),
    *requests_of("ExpireDelegationToken", (1, 2), only={"hmac": b"nothing", "expiry_time_period_ms": -1}),
    *requests_of("DescribeDelegationToken", (1, 2, 3), only={"owners": None}),
    *requests_of("DescribeDelegationToken", (3,), of_bob={"owners": [_owner("bob")]}),
]
