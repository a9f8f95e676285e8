"""The key offset map: greatest offsets of keys in limited memory."""

from hypothesis import given
from hypothesis import strategies as st

from fauxka.storage.cleaning.key_offset_map import NO_OFFSET, KeyOffsetMap

keys = st.binary(max_size=3)


def test_unknown_key_has_no_offset() -> None:
    assert KeyOffsetMap(2400, 10).find(b"k") == NO_OFFSET


@given(st.lists(st.tuples(keys, st.integers(0, 2**63 - 1)), max_size=200))
def test_last_offset_is_found_for_every_key(puts: list[tuple[bytes, int]]) -> None:
    offsets, model = KeyOffsetMap(10**6, len(puts)), dict[bytes, int]()

    for key, offset in puts:
        offsets.put(key, offset)
        model[key] = offset

    assert {key: offsets.find(key) for key in model} == model
    assert not offsets.is_full


def test_map_is_full_at_its_load_factor() -> None:
    offsets = KeyOffsetMap(24 * 100, 10**9)

    count = 0
    while not offsets.is_full:
        offsets.put(b"%d" % count, count)
        count += 1

    assert count == 90
    assert [offsets.find(b"%d" % number) for number in range(count)] == list(range(count))


def test_existing_key_needs_no_more_slots() -> None:
    offsets = KeyOffsetMap(24 * 3, 10)

    for offset in range(100):
        offsets.put(b"k", offset)

    assert offsets.find(b"k") == 99 and not offsets.is_full


def test_map_for_few_keys_takes_few_of_the_allowed_bytes() -> None:
    offsets = KeyOffsetMap(10**15, 3)

    offsets.put(b"k", 1)

    assert offsets.find(b"k") == 1
