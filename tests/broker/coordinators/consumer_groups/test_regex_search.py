"""Searches for the names that match: what one piece costs, and which thread runs it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from fauxka.broker.coordinators.consumer import topic_regex
from fauxka.broker.coordinators.consumer.topic_regex import COMPILE_STEPS_MAX, PIECE_STEPS_MAX, RegexSearch, TopicRegex
from fauxka.protocol.error_codes import ErrorCode

from .consumer_group_harness import GROUP, ConsumerGroupHarness

SECONDS_MAX = 60.0

# One name of 203 characters costs more than a piece: tens of milliseconds in RE2.
COSTLY = "(a?){1000}(a?){1000}a{200}"
COSTLY_NAMES = [f"{'a' * 200}{number:03}" for number in range(20)]


class RecordingRegex(TopicRegex):
    """An expression that records which names it was matched with, and in which thread."""

    matched_in: list[tuple[str, int]]

    def matches(self, name: str) -> bool:
        """Record the call."""
        self.matched_in.append((name, threading.get_ident()))
        return super().matches(name)


@pytest.fixture
def matched_in(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The names that were matched, with the thread."""
    RecordingRegex.matched_in = []
    monkeypatch.setattr(topic_regex, "TopicRegex", RecordingRegex)
    return RecordingRegex.matched_in


async def wait_for_threads() -> None:
    """Return when the executor's threads have ended, and the event loop has their results."""
    await asyncio.get_running_loop().shutdown_default_executor()
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_piece_costs_no_more_than_its_limit() -> None:
    names = [f"topic-{number}" for number in range(10_000)]
    regex = TopicRegex("topic-.*[05]")
    search = RegexSearch(["topic-.*[05]"], names)
    steps_of_all = sum(map(regex.match_steps, names))

    pieces = 1
    while not search.run_piece():
        pieces += 1

    assert pieces > steps_of_all / PIECE_STEPS_MAX
    assert len(search.matched["topic-.*[05]"]) == 2_000


def test_a_costly_name_is_a_piece_of_its_own_and_never_the_first(matched_in: list[tuple[str, int]]) -> None:
    search = RegexSearch([COSTLY], COSTLY_NAMES)
    names_per_piece: list[int] = []

    is_complete = False
    while not is_complete:
        before = len(matched_in)
        is_complete = search.run_piece()
        names_per_piece.append(len(matched_in) - before)

    assert names_per_piece == [0] + [1] * len(COSTLY_NAMES)


def test_every_expression_that_is_accepted_compiles_in_one_piece() -> None:
    assert COMPILE_STEPS_MAX <= PIECE_STEPS_MAX


def test_many_costly_compilations_are_several_pieces() -> None:
    search = RegexSearch(["\\pL" * 20, "\\pN" * 20, "\\pS" * 20], ["t"])

    pieces = [search.run_piece() for _ in range(3)]

    assert pieces == [False, False, True]


def test_an_invalid_expression_matches_no_name() -> None:
    search = RegexSearch(["(", "t"], ["t"])

    assert search.run_piece()
    assert search.matched == {"(": [], "t": ["t"]}


def test_a_search_of_one_piece_is_complete_before_run_returns() -> None:
    done: list[bool] = []

    RegexSearch(["t.*"], ["t1", "t2"]).run(lambda: done.append(True), lambda: True)

    assert done == [True]


@pytest.mark.asyncio
async def test_a_costly_search_runs_in_another_thread(matched_in: list[tuple[str, int]]) -> None:
    search = RegexSearch([COSTLY], COSTLY_NAMES)
    done = asyncio.Event()

    search.run(done.set, lambda: True)
    was_done = done.is_set()
    await asyncio.wait_for(done.wait(), SECONDS_MAX)

    assert not was_done
    assert [name for name, _ in matched_in] == COSTLY_NAMES
    assert threading.get_ident() not in {thread for _, thread in matched_in}


@pytest.mark.asyncio
async def test_the_event_loop_goes_on_during_one_match(matched_in: list[tuple[str, int]]) -> None:
    """RE2 releases the interpreter lock: the loop turns often while a single call of `matches` runs."""
    search = RegexSearch([COSTLY], COSTLY_NAMES)
    done = asyncio.Event()
    search.run(done.set, lambda: True)
    turns = 0

    while not done.is_set():
        await asyncio.sleep(0)
        turns += 1

    assert turns > 10 * len(COSTLY_NAMES)


@pytest.mark.asyncio
async def test_a_search_that_is_not_wanted_any_more_ends(matched_in: list[tuple[str, int]]) -> None:
    done: list[bool] = []

    RegexSearch([COSTLY], COSTLY_NAMES).run(lambda: done.append(True), lambda: False)
    await wait_for_threads()

    assert done == []
    assert len(matched_in) == 1


@pytest.mark.asyncio
async def test_a_search_ends_when_the_event_loop_shuts_down(matched_in: list[tuple[str, int]]) -> None:
    failures: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    done: list[bool] = []

    RegexSearch([COSTLY], COSTLY_NAMES).run(lambda: done.append(True), lambda: True)
    await wait_for_threads()

    assert failures == []
    assert done == []
    assert len(matched_in) == 1


async def wait_for_epoch(harness: ConsumerGroupHarness, epoch: int) -> None:
    """Return when the group has the epoch."""
    async with asyncio.timeout(SECONDS_MAX):
        while harness.describe().group_epoch != epoch:
            await asyncio.sleep(0.001)


@pytest.mark.asyncio
async def test_a_group_gets_the_topics_of_a_costly_expression_later() -> None:
    harness = ConsumerGroupHarness(**{"a" * 203: 1, "a" * 202 + "b": 1})

    harness.heartbeat("a", 0, {}, subscribed_topic_regex=COSTLY, rebalance_timeout_ms=1)
    before = harness.describe().group_epoch
    await wait_for_epoch(harness, before + 1)

    assert harness.assigned(harness.heartbeat("a", before)) == {"a" * 203: {0}}


@pytest.mark.asyncio
async def test_heartbeats_start_no_second_search(matched_in: list[tuple[str, int]]) -> None:
    harness = ConsumerGroupHarness(**{"a" * 203: 1})
    harness.heartbeat("a", 0, {}, subscribed_topic_regex=COSTLY, rebalance_timeout_ms=1)
    epoch = harness.describe().group_epoch

    for _ in range(5):
        harness.heartbeat("a", epoch)
    await wait_for_epoch(harness, epoch + 1)

    assert [name for name, _ in matched_in].count("a" * 203) == 1


@pytest.mark.asyncio
async def test_a_search_does_not_bring_a_deleted_group_back() -> None:
    harness = ConsumerGroupHarness(**{"a" * 203: 1})
    harness.heartbeat("a", 0, {}, subscribed_topic_regex=COSTLY, rebalance_timeout_ms=1)

    harness.heartbeat("a", -1)
    harness.coordinator.delete_group(GROUP)
    await wait_for_threads()

    assert harness.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND
