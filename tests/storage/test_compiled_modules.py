"""The compiled modules and their sources give the same results for drawn bytes, batches and appends.

Both run in this process: `plain_modules` loads protocol and storage a second time, from sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ..model.test_producer_state import Sent, Step, drawn_range, first_epochs, starts, steps
from ..protocol.batch_bytes import NOW_MS, batch, record, unsigned
from ..run_counts import examples
from .plain_modules import COMPILED, Modules, imported_modules, plain_modules

pytestmark = [pytest.mark.deep, pytest.mark.slice]

DRAWN = settings(max_examples=examples(800), deadline=None)
Outcome = object


@cache
def both() -> tuple[Modules, Modules]:
    """Return the compiled modules and the plain ones."""
    return imported_modules(), plain_modules()


@pytest.fixture(autouse=True)
def are_compiled() -> None:
    """Skip where `make plain` has deleted the compiled modules."""
    compiled, _ = both()
    if all(is_source(compiled, name) for name in COMPILED):
        pytest.skip("there are no compiled modules")


def is_source(modules: Modules, name: str) -> bool:
    return Path(modules[name.removeprefix("fauxka.")].__file__).suffix == ".py"


def test_every_module_of_setup_is_compiled_and_has_a_plain_copy() -> None:
    compiled, plain = both()

    assert len(COMPILED) == 43
    assert [name for name in COMPILED if is_source(compiled, name)] == []
    assert [name for name in COMPILED if not is_source(plain, name)] == []


def plain_value(value: object) -> Outcome:
    """Return a value in types that both copies share: its classes by their names, its fields as they are."""
    kind = type(value).__name__
    if isinstance(value, Enum):
        return kind, value.value
    if isinstance(value, memoryview):
        return value.tobytes()
    if isinstance(value, tuple | list):
        return kind, [plain_value(part) for part in cast("Iterable[object]", value)]
    fields = {name: plain_value(getattr(value, name)) for name in names_of_fields(value)}
    if isinstance(value, BaseException):
        return kind, plain_value(value.args), fields
    return (kind, fields) if fields else value


def names_of_fields(value: object) -> list[str]:
    """Return the names of the fields: compiled classes have no __dict__ and list them in an attribute of their own."""
    listed = [*getattr(type(value), "__slots__", ()), *getattr(value, "__mypyc_attrs__", ())]
    return sorted({name for name in (*listed, *getattr(value, "__dict__", ())) if hasattr(value, name)} - {"__dict__"})


def outcome(call: Callable[[], object]) -> Outcome:
    try:
        return plain_value(call())
    except Exception as error:
        return plain_value(error)


def assert_same(call: Callable[[Modules], object]) -> None:
    """Assert that call has the same result, or raises the same, with the compiled modules and with the plain ones."""
    of_compiled, of_plain = (outcome(partial(call, modules)) for modules in both())

    assert of_compiled == of_plain


# The codec's number in a batch's attributes: its records are then said to be a frame of zstd.
NOT_ZSTD = 4
CODECS = (
    *("decode_unsigned_varint", "skip_tagged_fields", "decode_string", "decode_compact_string"),
    *("decode_count", "decode_compact_count"),
)
frames = st.binary(max_size=40) | st.lists(st.sampled_from([0, 1, 2, 5, 0x7F, 0x80, 0xFF]), max_size=20).map(bytes)


@pytest.mark.parametrize("name", CODECS)
@given(frames, st.integers(0, 10), st.integers(0, 40))
@DRAWN
def test_any_bytes_are_decoded_alike(name: str, data: bytes, position: int, end: int) -> None:
    assert_same(
        lambda modules: getattr(modules["protocol.buffer_codec"], name)(memoryview(data), position, min(end, len(data)))
    )


@given(st.integers(0, 2**32 - 1) | st.sampled_from([-1, 127, 128, 2**31, 2**35]))
@DRAWN
def test_varints_are_encoded_alike(value: int) -> None:
    assert_same(lambda modules: modules["protocol.buffer_codec"].encode_unsigned_varint(value))


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Draw the bytes as they are, cut, continued, or with other values in up to three places."""
    data = bytearray(whole[: draw(st.integers(0, len(whole)))] if draw(st.integers(0, 9)) == 0 else whole)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data) + (draw(st.binary(max_size=8)) if draw(st.integers(0, 9)) == 0 else b"")


record_parts = st.none() | st.sampled_from([b"", b"v", bytes(70), bytes(9000)])


@st.composite
def payloads(draw: st.DrawFn) -> tuple[int, bytes]:
    """Draw a count and so many records, most of them valid."""
    count = draw(st.sampled_from([1, 2, 3, 12, 40, 140]))
    key, value = draw(record_parts), draw(st.none() | st.sampled_from([b"", b"v", bytes(70)]))
    headers = draw(st.sampled_from([(), ((b"h", b"x"),), ((b"name", None), (b"", b"y" * 70))]))
    deltas = st.integers(-70, 70) | st.sampled_from([-(2**63), -8193, 8191, 2**31, 2**63 - 1])
    wrong_at = draw(st.integers(-200, count - 1))
    rows = [
        record(
            value,
            key if index < 3 else b"k",
            offset_delta=draw(st.integers(-2, 300)) if index == wrong_at else index,
            timestamp_delta=draw(deltas),
            headers=headers,
        )
        for index in range(count)
    ]
    return count, draw(damaged(b"".join(rows)))


@given(payloads(), st.integers(-3, 3), st.booleans())
@DRAWN
def test_records_are_summarized_alike(drawn: tuple[int, bytes], change: int, are_lengths_checked: bool) -> None:
    count, data = drawn
    asked = max(1, count + (change if abs(change) == 3 else 0))

    assert_same(
        lambda modules: modules["protocol.batches.record_validation"].summarize_records(
            data, 0, asked, are_lengths_checked, lambda: None
        )
    )


@st.composite
def batches(draw: st.DrawFn) -> bytes:
    """Draw a batch whose header, CRC and records may be wrong."""
    count, payload = draw(payloads())
    whole = batch(
        payload,
        count=count,
        attributes=draw(st.sampled_from([0, 0, 0, 0, 1, 4, 5, 7, 8, 16, 32, 48])),
        base_offset=draw(st.sampled_from([0, 0, 0, 0, 7])),
        last_offset_delta=draw(st.sampled_from([None, None, None, None, 0, -1, 5, 2**31 - 1])),
        base_timestamp=NOW_MS + draw(st.sampled_from([0, 0, 0, -(10**12), 10**12, -NOW_MS - 1])),
        max_timestamp=draw(st.sampled_from([None, NOW_MS, NOW_MS + 70, -1])),
        producer_id=draw(st.sampled_from([-1, 7, 2**63 - 1])),
        producer_epoch=draw(st.sampled_from([-1, 0, 32767])),
        base_sequence=draw(st.sampled_from([-1, 0, 5, 2**31 - 1])),
        magic=draw(st.sampled_from([2, 2, 2, 2, 0, 1, 3])),
        crc_error=draw(st.sampled_from([0, 0, 0, 0, 1])),
        length_error=draw(st.sampled_from([0, 0, 0, 0, -1, 1, 1000])),
    )
    return draw(damaged(whole)) if draw(st.integers(0, 4)) == 0 else whole


BATCH_READERS = (
    *("is_plain_batch", "first_batch_size", "has_transactional_batch", "transactional_producer_of"),
    "base_sequence_of",
)


@pytest.mark.parametrize("name", BATCH_READERS)
@given(batches())
@DRAWN
def test_batches_of_a_request_are_read_alike(name: str, data: bytes) -> None:
    if name in BATCH_READERS[3:] and len(data) < 61:
        return

    assert_same(lambda modules: getattr(modules["protocol.produced_records"], name)(memoryview(data)))


@given(batches(), st.integers(3, 13))
@DRAWN
def test_produced_records_are_checked_alike(data: bytes, version: int) -> None:
    assert_same(lambda modules: modules["protocol.produced_records"].check_produced_records(memoryview(data), version))


@given(batches(), st.binary(max_size=9), st.sampled_from([0, 0, 0, 0, -1, 1]))
@DRAWN
def test_plain_batches_are_found_alike_in_a_frame(data: bytes, before: bytes, error: int) -> None:
    # A Produce of one partition ends with the tagged fields of partition, topic and request.
    sized = before + unsigned(len(data) + 1 + error) + data + bytes(4 if error == 1 else 3)

    def found(modules: Modules) -> object:
        find = modules["protocol.produced_records"].find_plain_batch
        return [
            outcome(partial(find, body, position, len(sized)))
            for position in (0, len(before), len(before) + 1)
            for body in (sized, sized[:-3], sized[:80])
        ]

    assert_same(found)


def config_of(modules: Modules, choices: tuple[str, str, str, int]) -> Any:
    """Return a LogConfig of the classes of the modules."""
    config, records = modules["storage.log_config"], modules["protocol.batches.record_batch"]
    codec, validation, timestamps, bound_ms = choices
    return config.LogConfig(
        compression_type=None if codec == "producer" else records.Compression[codec],
        record_validation=config.RecordValidation[validation],
        message_timestamp_type=records.TimestampType[timestamps],
        message_timestamp_before_max_ms=bound_ms,
        message_timestamp_after_max_ms=bound_ms,
        max_message_bytes=20_000,
        cleanup_policies=frozenset({config.CleanupPolicy["COMPACT" if bound_ms == 50 else "DELETE"]}),
    )


choices_of_config = st.tuples(
    st.sampled_from(["producer", "producer", "NONE", "GZIP", "SNAPPY", "LZ4", "ZSTD"]),
    st.sampled_from(["FULL", "BATCH"]),
    st.sampled_from(["CREATE_TIME", "LOG_APPEND_TIME"]),
    st.sampled_from([2**63 - 1, 3_600_000, 50]),
)


@example(batch(attributes=NOT_ZSTD), ("producer", "FULL", "CREATE_TIME", 2**63 - 1))
@given(batches(), choices_of_config)
@DRAWN
def test_batches_are_validated_alike(data: bytes, choices: tuple[str, str, str, int]) -> None:
    def validated(modules: Modules) -> object:
        validator = modules["storage.log_validator"].LogValidator("t-0", config_of(modules, choices), lambda: None)
        return validator.validate(memoryview(data), NOW_MS, 3)

    assert_same(validated)


def appends(modules: Modules, version: str, drawn: list[Step], start: int, first_epoch: int) -> list[Outcome]:
    """Append a batch for each step to a new log, and return each result, its description, and the state after it."""
    parse = modules["storage.producers.emulated_version"].EmulatedVersion.parse
    files = modules["storage.file_systems.memory_file_system"].MemoryFileSystem()
    place = modules["storage.log_loader"].LogLocation(files, "topic", 0, parse(version))
    log = modules["storage.partition_log"].PartitionLog(place, modules["storage.log_config"].LogConfig(), now_ms=NOW_MS)
    describe = modules["storage.append_decision"].describe_decision
    seen: list[Outcome] = []
    producers: dict[int, Sent] = {}
    for step in drawn:
        sent = producers.setdefault(step.producer, Sent(first_epoch, [], start))
        first, count = drawn_range(step, sent)
        epoch = sent.epoch + step.epoch_change
        data = batch(count=count, producer_id=step.producer, producer_epoch=epoch, base_sequence=first)
        try:
            result = log.append(memoryview(data), now_ms=NOW_MS, leader_epoch=0)
        except Exception as error:
            result = error
        else:
            sent.epoch, sent.next_sequence = max(epoch, sent.epoch), (first + count) % 2**31
        sent.ranges.append((first, count))
        seen += [plain_value(result), outcome(partial(describe, result))]
        seen.append(plain_value(list(log.producers.active_producers())))
    return seen


@pytest.mark.parametrize("version", ["0.11", "1.0", "1.1", "2.8", "4.3"])
@given(st.lists(steps, min_size=1, max_size=30), starts, first_epochs)
@settings(max_examples=examples(200), deadline=None)
def test_appends_of_producers_have_the_same_results_and_states(
    version: str, drawn: list[Step], start: int, first_epoch: int
) -> None:
    compiled, plain = both()

    assert appends(compiled, version, drawn, start, first_epoch) == appends(plain, version, drawn, start, first_epoch)
