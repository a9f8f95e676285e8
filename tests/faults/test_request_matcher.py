"""Matching of requests: field by field, and part by part."""

from __future__ import annotations

import pytest

from fauxka.faults.json_bytes import BytesValue
from fauxka.faults.rules.match import HeaderMatch, IntegerRange, Match, Pattern
from fauxka.faults.rules.near_misses import GotBytes, Mismatch, MoreValues, StartOfValue
from fauxka.faults.rules.request_matcher import Matched, RequestMatcher
from fauxka.protocol.batches.record_batch import HEADER_SIZE, Compression
from fauxka.protocol.batches.records import Record
from fauxka.protocol.request_facts import RequestFacts

from .matched_requests import Connection, Request, batch_facts, naming, produce


def matched(match: Match, request: Request) -> Matched | None:
    outcome = RequestMatcher(match).match(request)
    return outcome if isinstance(outcome, Matched) else None


def mismatch(match: Match, request: Request) -> Mismatch:
    outcome = RequestMatcher(match).match(request)
    assert isinstance(outcome, Mismatch)
    return outcome


def partitions_of(match: Match, request: Request) -> set[tuple[str, int]]:
    outcome = matched(match, request)
    return set() if outcome is None else set(outcome.partitions)


ONE = produce(batch_facts("orders", 3, base_sequence=114, records=[Record(b"a"), Record(b"b")]), transactional_id="t-1")
GROUP = naming("OffsetFetch", RequestFacts(group_ids=("billing", "audit")))


@pytest.mark.parametrize(
    ("match", "other"),
    [
        (Match(api="Produce"), Match(api="Fetch")),
        (Match(api=["Fetch", "Produce"]), Match(api=["Fetch", "Metadata"])),
        (Match(api_version=9), Match(api_version=8)),
        (Match(api_version=IntegerRange(first=9)), Match(api_version=IntegerRange(first=10))),
        (Match(api_version=IntegerRange(last=9)), Match(api_version=IntegerRange(last=8))),
        (Match(node=1), Match(node=0)),
        (Match(listener="PLAINTEXT"), Match(listener="plaintext")),
        (Match(connection=[2, 1]), Match(connection=2)),
        (Match(client_id="client"), Match(client_id="clien")),
        (Match(client_id=Pattern("cl.*")), Match(client_id=Pattern("clien"))),
        (Match(client_id=["x", Pattern(".*t")]), Match(client_id=["x", Pattern("t")])),
        (Match(transactional_id="t-1"), Match(transactional_id="t")),
        (Match(topic="orders"), Match(topic="order")),
        (Match(topic=Pattern("ord.*")), Match(topic=Pattern("rders"))),
        (Match(partition=3), Match(partition=0)),
        (Match(partition=[0, IntegerRange(first=3, last=3)]), Match(partition=[0, IntegerRange(first=4)])),
        (Match(producer_id=7), Match(producer_id=-1)),
        (Match(producer_epoch=0), Match(producer_epoch=1)),
        (Match(base_sequence=114), Match(base_sequence=115)),
        (Match(base_sequence=IntegerRange(first=110, last=114)), Match(base_sequence=IntegerRange(last=113))),
        (Match(record_count=2), Match(record_count=IntegerRange(first=3))),
    ],
)
def test_each_field_matches_or_not(match: Match, other: Match) -> None:
    assert matched(match, ONE) is not None
    assert matched(other, ONE) is None


def test_empty_match_matches_all_and_does_not_decode_the_body() -> None:
    request = produce(batch_facts())
    assert matched(Match(), request) == Matched()
    assert request.times_read == 0


def test_body_is_decoded_only_if_all_other_fields_match() -> None:
    request = produce(batch_facts())
    assert matched(Match(api="Fetch", topic="orders", key=b"k"), request) is None
    assert request.times_read == 0


def test_null_client_id_matches_the_empty_text() -> None:
    assert matched(Match(client_id=""), produce(client_id=None)) is not None
    assert matched(Match(client_id="x"), produce(client_id=None)) is None


def test_any_group_of_a_request_may_match() -> None:
    assert matched(Match(group_id="audit"), GROUP) is not None
    assert mismatch(Match(group_id="aud"), GROUP).got == ("billing", "audit")
    assert mismatch(Match(group_id="audit"), ONE).got is None


def test_batch_fields_match_together_for_one_partition() -> None:
    request = produce(batch_facts("orders", 0, base_sequence=5), batch_facts("orders", 1, base_sequence=6))
    assert partitions_of(Match(partition=1, base_sequence=6), request) == {("orders", 1)}
    assert matched(Match(partition=0, base_sequence=6), request) is None


def test_matched_partitions_and_topics_are_returned() -> None:
    request = produce(batch_facts("orders", 0), batch_facts("orders", 1), batch_facts("bills", 0))
    assert matched(Match(topic="orders"), request) == Matched(
        frozenset({("orders", 0), ("orders", 1)}), frozenset({"orders"})
    )
    assert partitions_of(Match(partition=0), request) == {("orders", 0), ("bills", 0)}
    assert matched(Match(api="Produce"), request) == Matched()


def test_a_request_without_batches_matches_by_its_partitions_and_topics() -> None:
    fetch = naming("Fetch", RequestFacts(("a", "b"), (("a", 0), ("a", 1))))
    assert partitions_of(Match(partition=1), fetch) == {("a", 1)}
    assert matched(Match(topic="b"), fetch) == Matched(frozenset(), frozenset({"b"}))
    assert mismatch(Match(topic="a", base_sequence=0), fetch).got is None


def test_partition_without_records_is_a_part() -> None:
    facts = RequestFacts(("a",), (("a", 0), ("a", 1)), batches=[batch_facts("a", 1)])
    assert partitions_of(Match(topic="a"), naming("Produce", facts)) == {("a", 0), ("a", 1)}
    assert partitions_of(Match(producer_id=7), naming("Produce", facts)) == {("a", 1)}


def test_request_with_a_producer_id_matches_it() -> None:
    end = naming("EndTxn", RequestFacts(transactional_id="t", producer_id=7, producer_epoch=2))
    assert matched(Match(producer_id=7, producer_epoch=2), end) == Matched()
    assert mismatch(Match(producer_id=8), end) == Mismatch("producer_id", 7, 12)
    assert mismatch(Match(producer_id=-1), GROUP).got is None


def test_first_mismatch_is_returned() -> None:
    found = mismatch(Match(api="Produce", topic="orders", partition=1), ONE)
    assert (found.field, found.got) == ("partition", 3)
    assert mismatch(Match(topic="orders"), GROUP).got is None


def test_latest_mismatch_of_several_parts_is_returned() -> None:
    request = produce(batch_facts("bills", 0), batch_facts("orders", 1), batch_facts("carts", 0))
    found = mismatch(Match(topic="orders", partition=0), request)
    assert (found.field, found.got) == ("partition", 1)


@pytest.mark.parametrize("codec", list(Compression))
def test_keys_and_headers_are_found_in_batches_of_every_codec(codec: Compression) -> None:
    records = [
        Record(b"1", key=b"a", headers=(("id", b"\xff"), ("empty", None))),
        Record(b"2", key=None),
        Record(b"3" * 1000, key=b"b", headers=(("id", b"2"),)),
    ]
    request = produce(batch_facts("orders", 0, records=records, compression=codec), batch_facts("orders", 1))
    for match in (
        Match(key=b"b"),
        Match(key=[b"x", BytesValue("a")]),
        Match(header=HeaderMatch(name="id")),
        Match(header=HeaderMatch(name="empty")),
        Match(header=HeaderMatch(name="id", value=b"\xff")),
        Match(header=[HeaderMatch(name="x"), HeaderMatch(name="id", value=BytesValue("2"))]),
        Match(key=b"b", header=HeaderMatch(name="id", value=b"2")),
    ):
        assert partitions_of(match, request) == {("orders", 0)}, match
    for match in (
        Match(key=b"c"),
        Match(key=b""),
        Match(header=HeaderMatch(name="ID")),
        Match(header=HeaderMatch(name="empty", value=b"")),
        Match(header=HeaderMatch(name="id", value=b"3")),
        Match(key=b"a", header=HeaderMatch(name="id", value=b"2")),
    ):
        assert matched(match, request) is None, match


def test_mismatch_reports_the_keys_and_header_values() -> None:
    records = [Record(key=key, headers=(("id", b"v" + key),)) for key in (b"a", b"b", b"c", b"d")]
    request = produce(batch_facts(records=records))
    assert mismatch(Match(key=b"x"), request).got == ("a", "b", "c", MoreValues(more=1))
    found = mismatch(Match(key=b"a", header=HeaderMatch(name="id", value=b"x")), request)
    assert (found.field, found.got) == ("header", ("va",))
    assert mismatch(Match(header=HeaderMatch(name="id")), GROUP).got is None


@pytest.mark.parametrize(
    ("key", "reported"),
    [
        (b"\xff\x00", BytesValue(base64=b"\xff\x00")),
        ("é".encode() * 31, StartOfValue(starts_with="é" * 30, size=62)),
        (b"a" + "é".encode() * 31, StartOfValue(starts_with="a" + "é" * 29, size=63)),
        (b"\xff" * 61, StartOfValue(starts_with=BytesValue(base64=b"\xff" * 60), size=61)),
    ],
)
def test_mismatch_reports_text_where_bytes_are_text_and_the_start_of_long_values(
    key: bytes, reported: GotBytes
) -> None:
    assert mismatch(Match(key=b"x"), produce(batch_facts(records=[Record(key=key)]))).got == (reported,)


@pytest.mark.parametrize("codec", list(Compression))
def test_a_batch_that_does_not_decode_does_not_match(codec: Compression) -> None:
    whole = batch_facts(records=[Record(b"v" * 100, key=b"k"), Record(b"w", key=b"k")], compression=codec)
    assert matched(Match(key=b"k"), produce(whole)) is not None
    data = bytes(whole.records)
    for size in range(0, len(data), 7):
        whole.records = memoryview(data[:size])
        assert mismatch(Match(key=b"k"), produce(whole)).got == "a batch that does not decode"
    # A complete header and random bytes: no codec decodes them, and they are no records.
    whole.records = memoryview(data[:HEADER_SIZE] + b"\xff" * (len(data) - HEADER_SIZE))
    assert mismatch(Match(key=b"k"), produce(whole)).got == "a batch that does not decode"


@pytest.mark.parametrize(("position", "value"), [(22, 7), (16, 1)], ids=["a codec that is none", "magic 1"])
def test_invalid_batch_does_not_match(position: int, value: int) -> None:
    facts = batch_facts(records=[Record(key=b"k")])
    data = bytearray(facts.records)
    data[position] = value
    facts.records = memoryview(bytes(data))
    assert matched(Match(key=b"k"), produce(facts)) is None


def test_connection_matches_its_node_and_listener() -> None:
    assert isinstance(RequestMatcher(Match(node=1, listener="PLAINTEXT")).match_connection(Connection()), Matched)
    found = RequestMatcher(Match(listener="SSL")).match_connection(Connection())
    assert isinstance(found, Mismatch)
    assert (found.field, found.got) == ("listener", "PLAINTEXT")
