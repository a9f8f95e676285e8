"""Hashes of event ids: equal exactly where the ids are, whatever is around them; and the views that use them."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.decode.batch_table import read_batches
from fauxka.pipeline.decode.decoder import Decoder
from fauxka.pipeline.decode.id_hashes import SET_BITS, HashedId, HashSet, hash_rows, set_bits_of, task_of_hash
from fauxka.pipeline.decode.record_columns import read_records
from fauxka.pipeline.decode.row_source import RowSource
from fauxka.pipeline.decode.views import columns_of
from fauxka.pipeline.read.options import parse_options
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from ..run_counts import examples
from .batch_strategies import log_files
from .plain_rows import PARTITION, TOPIC, decoded, plain_records, replace_kind

# Of batch_strategies, whose header names have few characters.
NAME = "a"
HASHED = st.builds(
    HashedId,
    st.sampled_from([(None,), (NAME,), (None, NAME), (NAME, ""), ("", None, NAME)]),
    st.booleans(),
    st.integers(1, 5),
)
# Sizes around those of words and of what is hashed at once.
SIZES = [*range(40), *range(240, 280), 5000]

Id = tuple[bytes, ...]


def id_of(row: dict[str, Any], hashed: HashedId) -> Id | None:
    """Return the event id of a record as the audit understands it: of a header the first of that name counts."""
    parts: list[bytes] = []
    for name in hashed.headers:
        values = [header["value"] for header in row["headers"] or () if header["key"] == name]
        content = row["key"] if name is None else next(iter(values), None)
        if content is None or (not content and not hashed.is_empty_an_id):
            return None
        parts.append(content)
    return tuple(parts)


def has_empty(row: dict[str, Any], hashed: HashedId) -> bool:
    of_any = HashedId(hashed.headers, is_empty_an_id=True)
    return not hashed.is_empty_an_id and id_of(row, hashed) is None and id_of(row, of_any) is not None


def rows_of(data: bytes, hashed: HashedId) -> list[dict[str, Any]]:
    columns = [type(one)(one.name, replace_kind(one.kind)) for one in columns_of("id_hashes")]
    decoder = Decoder("id_hashes", columns, hashed)
    return [row for rows in decoder.decode(memoryview(data), RowSource(TOPIC, PARTITION)) for row in rows.to_pylist()]


def hashes_of(contents: list[bytes], topic: str = "t") -> list[int]:
    """Return the hashes of keys in one batch."""
    data = build_batch([Record(b"value", content) for content in contents], BatchOptions())
    (columns,) = read_records(read_batches(memoryview(data)))
    hashes: list[int] = hash_rows(columns, HashedId((None,), is_empty_an_id=True), topic).hashes.tolist()
    return hashes


@given(log_files(), HASHED)
@settings(max_examples=examples(100), deadline=None)
def test_counts_and_repeated_hashes_are_those_of_the_ids(batches: list[bytes], hashed: HashedId) -> None:
    data = b"".join(batches)
    events = [row for row in plain_records(data) if not row["is_control"]]
    missing = [row for row in events if id_of(row, hashed) is None]

    counts, *parts = rows_of(data, hashed)

    assert (counts["topic"], counts["partition"], counts["hashes"]) == (TOPIC, PARTITION, None)
    assert (counts["with_id"], counts["without_id"]) == (len(events) - len(missing), len(missing))
    assert counts["empty_ids"] == sum(has_empty(row, hashed) for row in events)
    assert counts["first_offset"] == min((row["offset"] for row in missing), default=None)
    assert not counts["is_unreadable"]
    hashes = {part["task"]: np.frombuffer(part["hashes"], np.uint64) for part in parts}
    assert all((task_of_hash(of_task, hashed.tasks) == task).all() for task, of_task in hashes.items())
    found = Counter(one for of_task in hashes.values() for one in of_task.tolist())
    expected = Counter(id_of(row, hashed) for row in events if id_of(row, hashed) is not None)
    # Two of a kind are enough.
    assert sorted(found.values()) == sorted(min(count, 2) for count in expected.values())


@given(log_files(), HASHED, st.data())
@settings(max_examples=examples(60), deadline=None)
def test_all_events_with_a_wanted_id_are_read(batches: list[bytes], hashed: HashedId, data: st.DataObject) -> None:
    content = b"".join(batches)
    by_id: dict[Id, list[dict[str, Any]]] = defaultdict(list)
    for row in plain_records(content):
        if not row["is_control"] and (event_id := id_of(row, hashed)) is not None:
            by_id[event_id].append(row)
    wanted = data.draw(st.sets(st.sampled_from(sorted(by_id)))) if by_id else set[Id]()

    rows = decoded(content, "records", hashed=hashed, wanted=set_of(content, hashed, wanted))

    assert rows == [row for row in plain_records(content) if id_of(row, hashed) in wanted and not row["is_control"]]


def set_of(data: bytes, hashed: HashedId, wanted: set[Id]) -> HashSet:
    """Return the set of the hashes of the wanted ids of a log."""
    numbers: list[int] = []
    plain = iter(plain_records(data))
    for columns in read_records(read_batches(memoryview(data))):
        for number in set_bits_of(hash_rows(columns, hashed, TOPIC).hashes).tolist():
            if id_of(next(plain), hashed) in wanted:
                numbers.append(number)
    return HashSet.of_numbers([np.array(numbers, np.int64)])


def test_contents_of_any_size_have_hashes_of_their_own() -> None:
    contents = [bytes(size) for size in SIZES] + [bytes(size) + b"\1" for size in SIZES]

    hashes = hashes_of(contents)

    assert len(set(hashes)) == len(contents)
    assert len({one >> 64 - SET_BITS for one in hashes}) > 0.99 * len(contents)


def test_a_hash_does_not_depend_on_the_bytes_around() -> None:
    contents = [bytes(range(size % 256)) * (1 + size // 256) for size in SIZES]

    assert hashes_of(contents) == list(reversed(hashes_of(contents[::-1])))


def test_topics_have_hashes_of_their_own() -> None:
    assert not set(hashes_of([b"a", b"b"], "one")) & set(hashes_of([b"a", b"b"], "another"))


@pytest.mark.parametrize("records", [1, 1000])
def test_hashes_are_evenly_distributed(records: int) -> None:
    """Counted ids differ in few bits; a hundred thousand of them set no more bits than random ones would."""
    numbers = range(100_000)

    bits = {one >> 64 - SET_BITS for one in hashes_of([f"{number * records:012d}".encode() for number in numbers])}

    assert len(bits) > 0.996 * len(numbers)


def test_parts_of_an_id_are_told_apart() -> None:
    headers = [(b"ab", b"c"), (b"a", b"bc"), (b"", b"abc"), (b"abc", b"")]
    records = [Record(b"", None, headers=(("x", x), ("y", y))) for x, y in headers]
    (columns,) = read_records(read_batches(memoryview(build_batch(records, BatchOptions()))))

    hashes = hash_rows(columns, HashedId(("x", "y"), is_empty_an_id=True), "t").hashes.tolist()

    assert len(set(hashes)) == len(headers)


def test_a_set_has_what_was_put_in() -> None:
    hashes = np.array([0, 1 << 63, (1 << 64) - 1], np.uint64)

    made = HashSet.from_text(HashSet.of_numbers([set_bits_of(hashes[:1]), set_bits_of(hashes[1:])]).to_text())

    assert made.are_there(hashes).all()
    assert not made.are_there(np.array([1 << 62], np.uint64)).any()


@pytest.mark.parametrize(
    "given_text",
    [
        {"view": "id_hashes"},
        {"view": "id_hashes", "hashedid": "[]"},
        {"view": "id_hashes", "hashedid": "no JSON"},
        {"hashset": "AAAA"},
        {"hashset": "no base64!"},
    ],
)
def test_a_text_of_no_audit_is_refused(given_text: dict[str, str]) -> None:
    with pytest.raises(BadOption, match=r"view: must be|must be the text that an audit has made"):
        parse_options({"path": "/nowhere", **given_text})
