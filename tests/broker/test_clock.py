"""The clock: as it goes by itself, and as it is moved by hand."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from fauxka.broker.runtime.clock import ADVANCE_MS_MAX, RUNS_PER_ADVANCE_MAX, AdjustableClock, ClockMode
from fauxka.broker.runtime.expirations import NAMES_MAX

from ..manual_clock import manual_clock

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
# Far more than anything here takes.
SECONDS_MAX = 5


def test_time_stands_still_until_it_is_moved() -> None:
    clock = manual_clock(1000)

    clock.advance(5)

    assert clock.now_ms() == 1005


def test_callbacks_run_in_the_order_they_fall_due_and_see_that_time() -> None:
    clock = manual_clock(0)
    seen: list[tuple[str, int]] = []
    clock.call_later(20, lambda: seen.append(("late", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("early", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("as early, asked later", clock.now_ms())))

    clock.advance(25)

    assert seen == [("early", 10), ("as early, asked later", 10), ("late", 20)]
    assert clock.now_ms() == 25


def test_a_callback_may_schedule_another_that_falls_due_within_the_same_move() -> None:
    clock = manual_clock(0)
    seen: list[int] = []

    def again() -> None:
        seen.append(clock.now_ms())
        clock.call_later(10, again)

    clock.call_later(10, again)
    clock.advance(35)

    assert seen == [10, 20, 30]


def test_a_cancelled_callback_does_not_run() -> None:
    clock = manual_clock(0)
    seen: list[str] = []
    timer = clock.call_later(10, lambda: seen.append("cancelled"))

    timer.cancel()
    clock.advance(10)

    assert seen == []


def test_recurring_work_runs_a_limited_number_of_times_in_eight_days_and_at_their_end() -> None:
    clock = manual_clock(0)
    each_five_minutes: list[int] = []
    each_second: list[int] = []
    clock.call_every(5 * MINUTE_MS, lambda: each_five_minutes.append(clock.now_ms()))
    clock.call_every(1000, lambda: each_second.append(clock.now_ms()))

    clock.advance(8 * DAY_MS)

    assert each_five_minutes[0] == 5 * MINUTE_MS
    assert each_five_minutes[-1] == each_second[-1] == 8 * DAY_MS
    assert max(len(each_five_minutes), len(each_second)) <= RUNS_PER_ADVANCE_MAX + 2


def test_recurring_work_runs_every_time_in_a_short_advance() -> None:
    clock = manual_clock(0)
    seen: list[int] = []
    clock.call_every(10, lambda: seen.append(clock.now_ms()))

    clock.advance(35)
    clock.advance(5)

    assert seen == [10, 20, 30, 40]


def test_recurring_work_runs_at_its_last_due_time_of_an_advance() -> None:
    clock = manual_clock(0)
    seen: list[int] = []
    clock.call_every(7, lambda: seen.append(clock.now_ms()))

    clock.advance(7 * 1000 + 3)
    clock.advance(4)

    assert seen[-2:] == [7000, 7007]


def test_work_that_recurs_goes_on_after_it_failed(caplog: pytest.LogCaptureFixture) -> None:
    clock = manual_clock(0)
    seen: list[int] = []

    def work() -> None:
        seen.append(clock.now_ms())
        if len(seen) == 1:
            raise OSError("once")

    clock.call_every(10, work)
    clock.advance(30)

    assert seen == [10, 20, 30]
    assert [record.getMessage() for record in caplog.records] == ["timed work failed"]


def test_all_callbacks_are_taken_back_also_from_within_one() -> None:
    clock = manual_clock(0)
    seen: list[str] = []
    clock.call_every(10, lambda: seen.append("recurs"))
    clock.call_later(15, clock.cancel_all)
    clock.call_later(20, lambda: seen.append("late"))

    clock.advance(100)

    assert seen == ["recurs"]
    assert clock.now_ms() == 100


def test_timers_that_are_taken_back_again_and_again_are_cleared_away() -> None:
    clock = manual_clock(0)
    seen: list[str] = []
    kept = [clock.call_later(50, lambda: seen.append("kept")) for _ in range(3)]

    for _ in range(10_000):
        clock.call_later(10, lambda: seen.append("cancelled")).cancel()

    assert clock.pending_count <= 3 + 101
    clock.advance(50)
    assert seen == ["kept"] * len(kept)


@pytest.mark.parametrize("by_ms", [-1, ADVANCE_MS_MAX + 1])
def test_a_clock_is_not_moved_back_nor_beyond_all_use(by_ms: int) -> None:
    clock = manual_clock(5)

    with pytest.raises(ValueError, match=str(by_ms)):
        clock.advance(by_ms)

    assert clock.now_ms() == 5


def test_a_clock_of_its_own_shows_the_machines_time() -> None:
    clock = AdjustableClock()

    before, now, after = time.time_ns() // 1_000_000, clock.now_ms(), time.time_ns() // 1_000_000

    assert before <= now <= after
    assert clock.mode is ClockMode.REAL


def test_a_real_clock_that_is_advanced_goes_on_from_there() -> None:
    clock = AdjustableClock()
    before_ms = clock.now_ms()

    clock.advance(8 * DAY_MS)

    assert 8 * DAY_MS <= clock.now_ms() - before_ms < 8 * DAY_MS + 1000 * SECONDS_MAX
    assert clock.mode is ClockMode.REAL


def test_a_real_clock_runs_callbacks_by_itself_in_order_and_never_early() -> None:
    async def play() -> list[tuple[str, bool]]:
        clock = AdjustableClock()
        seen: list[tuple[str, bool]] = []
        done = asyncio.Event()
        begin_ns = time.monotonic_ns()

        def late() -> None:
            seen.append(("late", time.monotonic_ns() - begin_ns >= 20_000_000))
            done.set()

        clock.call_later(20, late)
        clock.call_later(10, lambda: seen.append(("early", time.monotonic_ns() - begin_ns >= 10_000_000)))
        clock.call_later(15, lambda: seen.append(("cancelled", True))).cancel()
        await asyncio.wait_for(done.wait(), SECONDS_MAX)
        return seen

    assert asyncio.run(play()) == [("early", True), ("late", True)]


def test_a_real_clock_runs_the_others_where_one_callback_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        clock = AdjustableClock()
        done = asyncio.Event()

        def fail() -> None:
            raise OSError("failed")

        clock.call_later(1, fail)
        clock.call_later(1, done.set)
        await asyncio.wait_for(done.wait(), SECONDS_MAX)

    asyncio.run(play())

    assert [record.getMessage() for record in caplog.records] == ["timed work failed"]


def test_callback_of_a_real_clock_runs_when_advanced_and_sees_its_due_time() -> None:
    async def play() -> list[tuple[str, int]]:
        clock = AdjustableClock()
        began_ms = clock.now_ms()
        seen: list[tuple[str, int]] = []
        clock.call_later(2 * DAY_MS, lambda: seen.append(("second", clock.now_ms() - began_ms)))
        clock.call_later(1 * DAY_MS, lambda: seen.append(("first", clock.now_ms() - began_ms)))
        clock.call_later(9 * DAY_MS, lambda: seen.append(("third", clock.now_ms() - began_ms)))
        clock.advance(8 * DAY_MS)
        return seen

    first, second = asyncio.run(play())

    assert first[0] == "first" and abs(first[1] - DAY_MS) < 1000
    assert second[0] == "second" and abs(second[1] - 2 * DAY_MS) < 1000


def test_a_clock_that_was_stopped_goes_on_from_where_it_stood() -> None:
    async def play() -> tuple[list[str], int, int]:
        clock = AdjustableClock()
        seen: list[str] = []
        done = asyncio.Event()
        clock.call_later(5, lambda: seen.append("ran"))
        clock.call_later(6, done.set)
        clock.set_mode(ClockMode.MANUAL)
        stood_ms = clock.now_ms()
        await asyncio.sleep(0.02)
        assert (seen, clock.now_ms()) == ([], stood_ms)
        clock.set_mode(ClockMode.REAL)
        went_on_ms = clock.now_ms()
        await asyncio.wait_for(done.wait(), SECONDS_MAX)
        return seen, stood_ms, went_on_ms

    seen, stood_ms, went_on_ms = asyncio.run(play())

    assert seen == ["ran"]
    assert stood_ms <= went_on_ms <= stood_ms + 20


def test_a_clock_goes_back_to_how_it_began() -> None:
    async def play() -> None:
        clock = AdjustableClock()
        clock.call_later(9 * DAY_MS, lambda: None)
        clock.advance(8 * DAY_MS)
        clock.set_mode(ClockMode.MANUAL)

        clock.reset()

        assert clock.mode is ClockMode.REAL
        assert abs(clock.now_ms() - time.time_ns() // 1_000_000) <= 1000 * SECONDS_MAX

    asyncio.run(play())
    manual = manual_clock(7)
    manual.advance(8)
    manual.reset()
    assert (manual.mode, manual.now_ms()) == (ClockMode.MANUAL, 7)


def test_a_real_clock_is_ahead_by_its_advances() -> None:
    clock = AdjustableClock()
    assert clock.ahead_ms == 0

    clock.advance(8 * DAY_MS)

    # The advance itself took some time of the clients' clocks.
    assert 0 <= 8 * DAY_MS - clock.ahead_ms < 1000 * SECONDS_MAX
    assert clock.most_ahead_ms >= clock.ahead_ms


def test_a_clock_that_stands_falls_behind_the_clients() -> None:
    clock = AdjustableClock()
    clock.set_mode(ClockMode.MANUAL)
    stands_at_ms = clock.now_ms()

    before = time.time_ns() // 1_000_000
    ahead_ms = clock.ahead_ms
    after = time.time_ns() // 1_000_000

    assert stands_at_ms - after <= ahead_ms <= stands_at_ms - before
    assert clock.most_ahead_ms == 0


def test_the_clients_of_a_clock_that_was_created_standing_stand_with_it() -> None:
    clock = manual_clock(1000)
    assert clock.ahead_ms == 0

    clock.advance(5)

    assert (clock.ahead_ms, clock.most_ahead_ms) == (5, 5)


def test_a_reset_clock_is_not_ahead() -> None:
    clock = AdjustableClock()
    clock.advance(8 * DAY_MS)

    clock.reset()

    assert (clock.ahead_ms, clock.most_ahead_ms) == (0, 0)


def test_a_spared_callback_does_not_run_and_its_whole_delay_begins_anew() -> None:
    clock = manual_clock(0)
    seen: list[tuple[str, int]] = []
    clock.call_later(10, lambda: seen.append(("due", clock.now_ms())), lambda: True)
    clock.call_later(200, lambda: seen.append(("not due", clock.now_ms())), lambda: True)
    clock.call_later(20, lambda: seen.append(("other", clock.now_ms())), lambda: False)

    clock.advance(100, spares=True)
    clock.advance(10)
    clock.advance(190)

    assert seen == [("other", 20), ("due", 110), ("not due", 300)]


def test_a_spared_callback_that_is_scheduled_or_cancelled_in_the_advance() -> None:
    clock = manual_clock(0)
    seen: list[int] = []
    cancelled = clock.call_later(10, lambda: seen.append(-1), lambda: True)

    def change() -> None:
        cancelled.cancel()
        clock.call_later(10, lambda: seen.append(clock.now_ms()), lambda: True)

    clock.call_later(20, change)
    clock.advance(100, spares=True)
    clock.advance(100)

    assert seen == [110]


def test_an_advance_that_spares_nothing_runs_every_callback() -> None:
    clock = manual_clock(0)
    seen: list[int] = []
    clock.call_later(10, lambda: seen.append(clock.now_ms()), lambda: True)

    clock.advance(100)

    assert seen == [10]


def test_an_advance_returns_what_its_callbacks_ended() -> None:
    clock = manual_clock(0)
    for number in range(30):
        clock.call_later(10, partial(clock.note_expired, "members", f"{number}"))
    clock.call_later(10, lambda: clock.note_expired("offsets", "billing", 5))
    clock.call_later(20, lambda: clock.note_expired("offsets", "billing", 2))
    clock.note_expired("tokens", "outside of an advance")

    ended = clock.advance(100).by_kind

    assert (ended["members"].count, ended["members"].names) == (30, [f"{number}" for number in range(NAMES_MAX)])
    assert (ended["offsets"].count, ended["offsets"].names) == (7, ["billing"])
    assert set(ended) == {"members", "offsets"}
    assert dict(clock.advance(100).by_kind) == {}


@pytest.mark.parametrize("skew_ms", [DAY_MS, -DAY_MS])
def test_a_skew_changes_the_date_and_no_delay(skew_ms: int) -> None:
    clock = manual_clock(2 * DAY_MS)
    seen: list[int] = []
    clock.call_later(10, lambda: seen.append(clock.now_ms()))

    clock.skew_ms = skew_ms
    clock.advance(9)
    before = list(seen)
    clock.advance(1)

    assert (before, seen) == ([], [2 * DAY_MS + 10 + skew_ms])
    assert (clock.steady_ms(), clock.ahead_ms, clock.now_ms()) == (2 * DAY_MS + 10, 10, 2 * DAY_MS + 10 + skew_ms)


def test_a_skew_outlives_a_change_of_the_mode_and_ends_with_a_reset() -> None:
    clock = manual_clock(2 * DAY_MS)
    clock.skew_ms = DAY_MS

    clock.set_mode(ClockMode.REAL)
    clock.set_mode(ClockMode.MANUAL)
    shift_ms = clock.now_ms() - clock.steady_ms()
    clock.reset()

    assert (shift_ms, clock.now_ms()) == (DAY_MS, 2 * DAY_MS)
