"""What a record is tested for in a search: a text or a regular expression in its key, value, headers or JSON.

The tests run in a thread, and in time that grows with the length of the record only: expressions are those of RE2, and
a value above JSON_BYTES_MAX has no fields.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...broker.replica.record_reader import StoredRecord
from ...faults.event_ids import KEY, VALUE, find_event_id
from ...faults.rule_error import InvalidValueError
from ...protocol.linear_regex import RegexError, compile_regex

RecordTest = Callable[[StoredRecord], bool]

HEADER = "header:"
JSON = "json:"
PLACES = "key, value, header:NAME or json:PATH"
MATCHES = ("contains", "equals", "regex")
# json.loads holds the interpreter lock for about 10 ms for so many bytes.
JSON_BYTES_MAX = 1024 * 1024


def make_content_test(contains: str | None, equals: str | None, regex: str | None) -> Callable[[bytes], bool] | None:
    """Return the test of one content; None if nothing is searched for. Raises InvalidValueError."""
    given = [name for name, value in zip(MATCHES, (contains, equals, regex), strict=True) if value is not None]
    if len(given) > 1:
        allowed = "one of contains, equals and regex"
        value = {"contains": contains, "equals": equals, "regex": regex}[given[1]]
        raise InvalidValueError(given[1], value, allowed, f"{' and '.join(given)} are given; allowed: {allowed}")
    if contains is not None:
        part = contains.encode()
        return lambda content: part in content
    if equals is not None:
        whole = equals.encode()
        return lambda content: content == whole
    if regex is None:
        return None
    try:
        pattern = compile_regex(regex)
    except RegexError as error:
        allowed = "a regular expression of RE2, which has no lookaround and no backreference"
        raise InvalidValueError("regex", regex, allowed, f"regex does not compile: {error}") from None
    return lambda content: pattern.search(content) is not None


def contents_of(place: str | None) -> Callable[[StoredRecord], Sequence[bytes]]:
    """Return what reads the searched contents of a record. Raises InvalidValueError.

    place: None for the key, the value and all headers.
    """
    if place is None:
        return _all_contents
    if place == KEY:
        return lambda record: () if record.key is None else (record.key,)
    if place == VALUE:
        return lambda record: () if record.value is None else (record.value,)
    if place.startswith(HEADER) and place != HEADER:
        name = place.removeprefix(HEADER)
        return lambda record: [value for header, value in record.headers if header == name and value is not None]
    find_field = find_event_id(place) if place.startswith(JSON) else None
    if find_field is None:
        raise InvalidValueError("in", place, PLACES, f"in cannot be {place!r}; allowed: {PLACES}")

    def field(record: StoredRecord) -> Sequence[bytes]:
        found = None if len(record.value or b"") > JSON_BYTES_MAX else find_field(record)
        return () if found is None else (found,)

    return field


def _all_contents(record: StoredRecord) -> Sequence[bytes]:
    return [each for each in (record.key, record.value, *(value for _, value in record.headers)) if each is not None]
