"""The APIs of users, ACLs, delegation tokens and SASL."""

from __future__ import annotations

from ..acl_types import AclOperation
from .api import NEVER_FLEXIBLE, Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, NAMED_REQUEST, OPEN, needs_cluster
from .fields import EntryList, ErrorFields

APIS = (
    Api(
        ApiKey.SASL_HANDSHAKE,
        "SaslHandshake",
        Versions(0, 1, NEVER_FLEXIBLE),
        authorization=OPEN,
        is_never_throttled=True,
    ),
    Api(
        ApiKey.DESCRIBE_ACLS,
        "DescribeAcls",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.5 0-2, 3.3 0-3, 4.0 1-3"),
        authorization=needs_cluster(AclOperation.DESCRIBE, text=NAMED_REQUEST),
    ),
    Api(
        ApiKey.CREATE_ACLS,
        "CreateAcls",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.5 0-2, 3.3 0-3, 4.0 1-3"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        entries=EntryList("creations", "results"),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DELETE_ACLS,
        "DeleteAcls",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.5 0-2, 3.3 0-3, 4.0 1-3"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        entries=EntryList("filters", "filter_results"),
        is_forwarded=True,
    ),
    Api(
        ApiKey.SASL_AUTHENTICATE,
        "SaslAuthenticate",
        Versions(0, 2, 2, by_release="2.1 0-0, 2.2 0-1, 2.5 0-2"),
        authorization=OPEN,
        has_secrets=True,
        is_never_throttled=True,
    ),
    Api(
        ApiKey.CREATE_DELEGATION_TOKEN,
        "CreateDelegationToken",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.4 0-2, 3.3 none, 3.6 0-3, 4.0 1-3"),
        authorization=CHECKED_BY_HANDLER,
        errors=ErrorFields(
            response_values={
                "principal_type": "User",
                "principal_name": "ANONYMOUS",
                "token_requester_principal_type": "User",
                "token_requester_principal_name": "ANONYMOUS",
                "issue_timestamp_ms": -1,
                "expiry_timestamp_ms": -1,
                "max_timestamp_ms": -1,
            }
        ),
        is_forwarded=True,
    ),
    Api(
        ApiKey.RENEW_DELEGATION_TOKEN,
        "RenewDelegationToken",
        Versions(0, 2, 2, by_release="2.1 0-1, 2.5 0-2, 3.3 none, 3.6 0-2, 4.0 1-2"),
        authorization=CHECKED_BY_HANDLER,
        is_forwarded=True,
        has_secrets=True,
    ),
    Api(
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        "ExpireDelegationToken",
        Versions(0, 2, 2, by_release="2.1 0-1, 2.5 0-2, 3.3 none, 3.6 0-2, 4.0 1-2"),
        authorization=CHECKED_BY_HANDLER,
        is_forwarded=True,
        has_secrets=True,
    ),
    Api(
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        "DescribeDelegationToken",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.5 0-2, 3.3 none, 3.6 0-3, 4.0 1-3"),
        authorization=CHECKED_BY_HANDLER,
    ),
    Api(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        "DescribeUserScramCredentials",
        Versions(0, 0, 0, by_release="2.7 0-0, 3.3 none, 3.5 0-0"),
        authorization=needs_cluster(AclOperation.DESCRIBE),
        entries=EntryList("users", "results"),
    ),
    Api(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        "AlterUserScramCredentials",
        Versions(0, 0, 0, by_release="2.7 0-0, 3.3 none, 3.5 0-0"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        is_forwarded=True,
        has_secrets=True,
    ),
)
