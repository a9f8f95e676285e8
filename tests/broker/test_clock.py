"""The clock that is moved by hand."""

from __future__ import annotations

from fauxka.broker.clock import ManualClock


def test_time_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(1000)

    clock.advance(5)

    assert clock.now_ms() == 1005


def test_callbacks_run_in_the_order_they_fall_due_and_see_that_time() -> None:
    clock = ManualClock(0)
    seen: list[tuple[str, int]] = []
    clock.call_later(20, lambda: seen.append(("late", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("early", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("as early, asked later", clock.now_ms())))

    clock.advance(25)

    assert seen == [("early", 10), ("as early, asked later", 10), ("late", 20)]
    assert clock.now_ms() == 25


def test_a_callback_may_schedule_another_that_falls_due_within_the_same_move() -> None:
    clock = ManualClock(0)
    seen: list[int] = []

    def again() -> None:
        seen.append(clock.now_ms())
        clock.call_later(10, again)

    clock.call_later(10, again)
    clock.advance(35)

    assert seen == [10, 20, 30]


def test_a_cancelled_callback_does_not_run() -> None:
    clock = ManualClock(0)
    seen: list[str] = []
    timer = clock.call_later(10, lambda: seen.append("cancelled"))

    timer.cancel()
    clock.advance(10)

    assert seen == []
