"""The `match` of a fault rule as data: which requests and connections the rule is for.

- All given fields must hold. A list matches if any of its entries does.
- The batch fields (BATCH_FIELDS) must hold together for one partition of the request; key and header for one record.
- A text must be equal to the whole value. A regex (Python's re) must match the whole value.
- A field that the request does not have never matches. A null client_id counts as "".
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct, structs

from ..json_bytes import with_bytes_value
from ..match_values import AnyBytes, AnyHeader, AnyInteger, AnyName, AnyNatural, AnyText

# What Python needs to make a Match.
from ..match_values import HeaderMatch as HeaderMatch
from ..match_values import IntegerRange as IntegerRange
from ..match_values import Pattern as Pattern
from ..rule_error import RuleError


class Match(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The conditions on a request. None, the default of each field, matches everything.

    api: Kafka's name, such as "Produce". node, listener, connection: where the request was received.
    mechanism: the SASL mechanism of the connection, or the one that a SaslHandshake asks for.
    principal: who the client is, such as "User:alice"; of a SaslAuthenticate the user whom its token names.
    producer_id, producer_epoch: of a batch, or of a request with a producer id of its own; -1 is a batch without one.
    base_sequence, record_count: from the header of a batch.
    key: of any record of the batch: a text, or bytes as json_bytes describes. A null key never matches.
    header: of any record: {"name": ..., "value": ...}, the value written like a key.
    Only key and header decode records. A batch that does not decode does not match them.
    """

    error_type = RuleError

    api: AnyName | None = None
    api_version: AnyNatural | None = None
    node: AnyNatural | None = None
    listener: AnyText | None = None
    connection: AnyNatural | None = None
    client_id: AnyText | None = None
    mechanism: AnyName | None = None
    principal: AnyText | None = None
    transactional_id: AnyText | None = None
    group_id: AnyText | None = None
    topic: AnyText | None = None
    partition: AnyNatural | None = None
    producer_id: AnyInteger | None = None
    producer_epoch: AnyInteger | None = None
    base_sequence: AnyInteger | None = None
    record_count: AnyNatural | None = None
    key: AnyBytes | None = None
    header: AnyHeader | None = None

    def __post_init__(self) -> None:
        """Replace bytes, which JSON does not have."""
        key: object = self.key
        is_list = isinstance(key, list)
        replaced = [*map(with_bytes_value, cast("list[object]", key))] if is_list else with_bytes_value(key)
        structs.force_setattr(self, "key", replaced)


# In matching order: the cheapest fields first, those of a batch last.
CONNECTION_FIELDS = ("node", "listener", "connection")
REQUEST_FIELDS = ("api", "api_version", *CONNECTION_FIELDS, "client_id", "mechanism", "principal")
NAMED_FIELDS = ("transactional_id", "group_id")
BATCH_FIELDS = (
    "topic",
    "partition",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
    "key",
    "header",
)
