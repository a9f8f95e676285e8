"""The small parts of the coordinators: Java's strings, protocol vote, subscriptions, keys and timers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.coordinators.group.group_member import (
    GroupMember,
    MemberProtocol,
    find_subscribed_topics,
    select_protocol,
)
from fauxka.broker.coordinators.group.group_timers import GroupTimers
from fauxka.broker.coordinators.internal_topics import is_share_key, partition_index_of_key
from fauxka.broker.coordinators.java_hash_tables import java_hash_order
from fauxka.broker.coordinators.java_strings import java_string_hash, java_string_length

from ...manual_clock import manual_clock
from .group_harness import SUBSCRIPTION


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("abc", 96354), ("é", 233), ("\U0001f600", 1772899), ("polygenelubricants", -(2**31))],
)
def test_strings_hash_as_in_java(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected


def test_a_character_outside_the_basic_plane_counts_twice() -> None:
    assert java_string_length("a\U0001f600") == 3


@given(st.text(), st.integers(1, 50))
def test_every_key_has_a_partition(key: str, partition_count: int) -> None:
    assert 0 <= partition_index_of_key(key, partition_count) < partition_count


def test_the_key_whose_hash_has_no_absolute_value_belongs_to_partition_0() -> None:
    assert partition_index_of_key("polygenelubricants", 50) == 0


def test_hash_order_follows_the_buckets_of_javas_hash_table() -> None:
    assert java_hash_order(["roundrobin", "cooperative-sticky", "range"]) == [
        "range",
        "roundrobin",
        "cooperative-sticky",
    ]


def _member(*protocols: str) -> GroupMember:
    return GroupMember(
        member_id="",
        group_instance_id=None,
        client_id="",
        client_host="",
        rebalance_timeout_ms=0,
        session_timeout_ms=0,
        protocol_type="consumer",
        protocols=[MemberProtocol(name, b"") for name in protocols],
    )


def test_the_protocol_with_the_most_votes_is_selected() -> None:
    members = [_member("a", "b"), _member("b", "a"), _member("b", "a")]

    assert select_protocol(members) == "b"


def test_a_protocol_that_one_member_lacks_is_not_selected() -> None:
    members = [_member("a", "b"), _member("a", "b"), _member("b")]

    assert select_protocol(members) == "b"


def test_of_protocols_with_equal_votes_the_first_in_the_hash_table_is_selected() -> None:
    members = [_member("roundrobin", "range"), _member("range", "roundrobin")]

    assert select_protocol(members) == "range"


def test_the_topics_of_a_subscription_are_returned() -> None:
    assert find_subscribed_topics(SUBSCRIPTION) == frozenset({"t"})


def test_a_subscription_of_a_newer_version_is_read_as_version_0() -> None:
    assert find_subscribed_topics(b"\x00\x03" + SUBSCRIPTION[2:] + b"more") == frozenset({"t"})


@given(st.binary(max_size=64))
def test_any_bytes_give_topics_or_none(metadata: bytes) -> None:
    topics = find_subscribed_topics(metadata)

    assert topics is None or all(isinstance(topic, str) for topic in topics)


def test_a_topic_count_beyond_the_bytes_gives_none() -> None:
    assert find_subscribed_topics(b"\x00\x00\x7f\xff\xff\xff") is None


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("group:AAAAAAAAAAAAAAAAAAAAAQ:0", True),
        ("group:AAAAAAAAAAAAAAAAAAAAAQ:x", False),
        ("group:short:0", False),
        (":AAAAAAAAAAAAAAAAAAAAAQ:0", False),
        ("group", False),
        ("", False),
    ],
)
def test_keys_of_share_groups_have_three_parts(key: str, expected: bool) -> None:
    assert is_share_key(key) is expected


def test_a_timer_that_is_scheduled_again_runs_once_at_the_later_time() -> None:
    clock = manual_clock()
    timers = GroupTimers(clock)
    started_ms = clock.now_ms()
    ran_at_ms: list[int] = []
    timers.schedule("x", 10, lambda: ran_at_ms.append(clock.now_ms() - started_ms))
    clock.advance(5)

    timers.schedule("x", 10, lambda: ran_at_ms.append(clock.now_ms() - started_ms))
    clock.advance(100)

    assert ran_at_ms == [15]
    assert timers.names() == []


def test_cancelled_timers_do_not_run() -> None:
    clock = manual_clock()
    timers = GroupTimers(clock)
    ran: list[str] = []
    timers.schedule("x", 10, lambda: ran.append("x"))
    timers.schedule("y", 10, lambda: ran.append("y"))

    timers.cancel_all()
    clock.advance(100)

    assert ran == []
