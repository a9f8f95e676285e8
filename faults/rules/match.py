"""Which requests and connections a rule is for: the `match` of a rule as data.

Every field that is given must hold; a list means any of its entries. The fields of a batch (topic, partition,
producer_id, producer_epoch, base_sequence, record_count, key, header) must hold together of one partition of a request,
key and header of one record of it. A text is equal to the whole of what it is compared with, and a regex (Python's)
matches the whole of it. What a request does not name matches nothing; a client id that is null counts as "".
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from ..actions import INT64_MAX

# The longest text that Kafka's protocol can carry as a name: no rule can wait for a longer one.
TEXT_CHARACTERS_MAX = 32767
# A regex is tried on the broker's one thread; nobody writes longer ones by hand.
REGEX_CHARACTERS_MAX = 1000
# Entries of a list that means any of; above it a regex or a range says the same.
ANY_OF_MAX = 1000

Text = Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]
Natural = Annotated[int, Meta(ge=0, le=INT64_MAX)]
# -1 is what Kafka writes where there is no producer, and no sequence.
NaturalOrNone = Annotated[int, Meta(ge=-1, le=INT64_MAX)]


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """A regular expression of Python's module re, which must match the whole text."""

    regex: Annotated[str, Meta(max_length=REGEX_CHARACTERS_MAX)]


class IntegerRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The integers from first to last, both included; one of the two may be left out."""

    first: NaturalOrNone | None = field(default=None, name="from")
    last: NaturalOrNone | None = field(default=None, name="to")


class TextBytes(Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes written as text, which is UTF-8."""

    text: Text


class HeaderMatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A record header of this name; value: with these bytes, base64 or {"text": ...}; None for any, and for null."""

    name: Text
    value: bytes | TextBytes | None = None


AnyText = Text | Pattern | Annotated[list[Text | Pattern], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyName = Text | Annotated[list[Text], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyNatural = Natural | IntegerRange | Annotated[list[Natural | IntegerRange], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyInteger = (
    NaturalOrNone
    | IntegerRange
    | Annotated[list[NaturalOrNone | IntegerRange], Meta(min_length=1, max_length=ANY_OF_MAX)]
)
AnyBytes = bytes | TextBytes | Annotated[list[bytes | TextBytes], Meta(min_length=1, max_length=ANY_OF_MAX)]
AnyHeader = HeaderMatch | Annotated[list[HeaderMatch], Meta(min_length=1, max_length=ANY_OF_MAX)]


class Match(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What must hold of a request; None, the default of each field, asks nothing.

    api: Kafka's name, such as "Produce". node, listener, connection: where it came in.
    producer_id, producer_epoch: of a batch, or of a request that names a producer itself; -1 is a batch without one.
    base_sequence, record_count: as the header of a batch has them.
    key: of any record of the batch. In JSON a text is base64, as all bytes are; {"text": "order-1"} is the bytes of a
    text. A null key matches nothing. header: of any record, {"name": ..., "value": ...} with the value written as a key
    is. Records are decoded only for these two, and a batch that does not decode does not match.
    """

    api: AnyName | None = None
    api_version: AnyNatural | None = None
    node: AnyNatural | None = None
    listener: AnyText | None = None
    connection: AnyNatural | None = None
    client_id: AnyText | None = None
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


# In the order in which they are asked: those that cost nothing first, those of a batch last.
CONNECTION_FIELDS = ("node", "listener", "connection")
REQUEST_FIELDS = ("api", "api_version", *CONNECTION_FIELDS, "client_id")
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
