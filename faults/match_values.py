"""The values of a match as data: texts, numbers and bytes, and patterns, ranges and lists of them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field, structs

from .json_bytes import OneBytes, Text, with_bytes_value
from .numbers import INT64_MAX, Natural

# A regex runs on the event loop's thread.
REGEX_CHARACTERS_MAX = 1000
# Entries of a list. For more, a regex or a range does the same.
ANY_OF_MAX = 1000

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
