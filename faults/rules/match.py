"""The `match` of a fault rule as data: which requests and connections the rule is for.

- All given fields must hold. A list matches if any of its entries does.
- The batch fields (BATCH_FIELDS) must hold together for one partition of the request; key and header for one record.
- A text must be equal to the whole value. A regex (Python's re) must match the whole value.
- A field that the request does not have never matches. A null client_id counts as "".
"""

from __future__ import annotations

from typing import Annotated, cast

from msgspec import Meta, Struct, field, structs

from ..actions import INT64_MAX
from ..json_bytes import TEXT_CHARACTERS_MAX as TEXT_CHARACTERS_MAX
from ..json_bytes import OneBytes, Text, with_bytes_value

# A regex runs on the event loop's thread.
REGEX_CHARACTERS_MAX = 1000
# Entries of a list. For more, a regex or a range does the same.
ANY_OF_MAX = 1000

Natural = Annotated[int, Meta(ge=0, le=INT64_MAX)]
# Kafka writes -1 for no producer and no sequence.
NaturalOrNone = Annotated[int, Meta(ge=-1, le=INT64_MAX)]


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """A regular expression of RE2, which must match the whole text."""

    regex: Annotated[str, Meta(max_length=REGEX_CHARACTERS_MAX)]


class IntegerRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The integers from first to last, both included. One of the two may be missing."""

    first: NaturalOrNone | None = field(default=None, name="from")
    last: NaturalOrNone | None = field(default=None, name="to")


class HeaderMatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A record header with this name. value: as json_bytes describes; None for any value, null included."""

    name: Text
    value: OneBytes | None = None

    def __post_init__(self) -> None:
        """Replace bytes, which JSON does not have."""
        structs.force_setattr(self, "value", with_bytes_value(self.value))


AnyText = Text | Pattern | Annotated[list[Text | Pattern], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyName = Text | Annotated[list[Text], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyNatural = Natural | IntegerRange | Annotated[list[Natural | IntegerRange], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyInteger = (
    NaturalOrNone
    | IntegerRange
    | Annotated[list[NaturalOrNone | IntegerRange], Meta(min_length=1, max_length=ANY_OF_MAX)]
)
AnyBytes = OneBytes | Annotated[list[OneBytes], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyHeader = HeaderMatch | Annotated[list[HeaderMatch], Meta(min_length=1, max_length=ANY_OF_MAX)]


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
