"""Group commit: how many flushes there are, who waits for which, and what a failure does."""

from fauxka.broker.replica.partition_flusher import RETRY_MS

from .flush_scene import FlushScene

REFUSED = OSError(5, "Input/output error")


def test_appends_of_one_round_of_the_loop_are_flushed_together() -> None:
    scene = FlushScene()

    for _ in range(64):
        scene.append()
    scene.steps.settle()
    scene.steps.end()

    assert scene.log.flushes == [64]
    assert len(scene.answers) == 64


def test_request_during_a_flush_waits_for_the_next_one() -> None:
    scene = FlushScene()
    scene.append("first")
    scene.steps.settle()

    for _ in range(63):
        scene.append("later")
    scene.steps.settle()
    in_flight = len(scene.steps.in_flight)
    scene.steps.end()
    answered = [name for name, _ in scene.answers]
    scene.steps.end()

    assert in_flight == 1
    assert answered == ["first"]
    assert scene.log.flushes == [1, 64]
    assert len(scene.answers) == 64


def test_answers_come_in_the_order_of_their_appends() -> None:
    scene = FlushScene()

    for name in "abcde":
        scene.append(name)
    scene.steps.settle()
    scene.steps.end()

    assert [name for name, _ in scene.answers] == list("abcde")


def test_response_is_immediate_if_the_batch_is_already_flushed() -> None:
    scene = FlushScene()
    scene.log.log_end_offset = scene.log.recovery_point = 9

    scene.flusher.when_flushed(9, lambda error: scene.answers.append(("duplicate", error)))

    assert scene.answers == [("duplicate", None)]
    assert scene.log.flushes == []


def test_failed_flush_is_reported_to_its_waiting_requests() -> None:
    scene = FlushScene()
    scene.append("lost")
    scene.steps.settle()

    scene.append("saved")
    scene.steps.end(REFUSED)
    scene.steps.end()

    assert scene.answers == [("lost", REFUSED), ("saved", None)]
    assert scene.log.failures == 1
    assert scene.log.recovery_point == 2
    assert scene.said == ["flush failed", "flush works"]


def test_failed_flush_is_tried_again_without_any_request() -> None:
    scene = FlushScene()
    scene.append()
    scene.steps.settle()
    scene.steps.end(REFUSED)

    scene.clock.advance(RETRY_MS)
    scene.steps.settle()
    scene.steps.end(REFUSED)
    scene.clock.advance(RETRY_MS)
    scene.steps.settle()
    scene.steps.end()
    scene.clock.advance(10 * RETRY_MS)
    scene.steps.settle()

    assert scene.log.flushes == [1, 1, 1]
    assert scene.log.recovery_point == 1


def test_flush_that_cannot_begin_is_one_that_failed() -> None:
    scene = FlushScene()

    def refuse() -> None:
        raise REFUSED

    scene.log.begin_flush = refuse  # type: ignore[method-assign, assignment]
    scene.append("lost")
    scene.steps.settle()

    assert scene.answers == [("lost", REFUSED)]


def test_requests_that_wait_for_the_log_are_woken_when_it_is_flushed() -> None:
    scene = FlushScene()
    scene.append()
    scene.steps.settle()

    before = scene.wakes
    scene.steps.end()

    assert (before, scene.wakes) == (0, 1)


def test_sealed_segment_is_flushed_in_the_background() -> None:
    scene = FlushScene()
    scene.log.is_flush_due = False
    scene.log.log_end_offset = 5
    waits_before = scene.flusher.must_wait()

    scene.log.sealed_offset = 4
    waits_after = scene.flusher.must_wait()
    scene.steps.settle()

    assert not waits_before
    assert not waits_after
    assert scene.log.flushes == [5]


def test_segment_sealed_while_a_flush_is_in_flight_is_flushed_by_the_next() -> None:
    scene = FlushScene()
    scene.append()
    scene.steps.settle()

    scene.log.log_end_offset = 5
    scene.log.sealed_offset = 4
    scene.flusher.must_wait()
    scene.steps.end()
    scene.steps.end()

    assert scene.log.flushes == [1, 5]


def test_log_is_flushed_after_flush_ms() -> None:
    scene = FlushScene()
    scene.log.config.flush_ms = 1000
    scene.log.log_end_offset = 3

    scene.clock.advance(999)
    scene.flusher.flush_if_due(scene.clock.now_ms())
    scene.steps.settle()
    early = list(scene.log.flushes)
    scene.clock.advance(1)
    scene.flusher.flush_if_due(scene.clock.now_ms())
    scene.steps.settle()

    assert early == []
    assert scene.log.flushes == [3]


def test_log_without_news_is_not_flushed_after_flush_ms() -> None:
    scene = FlushScene()
    scene.log.config.flush_ms = 0

    scene.clock.advance(5)
    scene.flusher.flush_if_due(scene.clock.now_ms())
    scene.steps.settle()

    assert scene.log.flushes == []


def test_deleted_partition_is_not_tried_again() -> None:
    scene = FlushScene()
    scene.append("gone")
    scene.steps.settle()

    scene.is_deleted = True
    scene.steps.end(REFUSED)
    scene.clock.advance(2 * RETRY_MS)
    scene.steps.settle()

    assert scene.answers == [("gone", REFUSED)]
    assert scene.log.flushes == [1]
    assert scene.said == []


def test_flush_in_flight_of_a_log_that_was_truncated_is_not_tried_again() -> None:
    scene = FlushScene()
    scene.append("in flight")
    scene.steps.settle()
    scene.append("later")

    scene.flusher.of_log(scene.log)  # type: ignore[arg-type]
    scene.steps.end(REFUSED)
    scene.steps.settle()
    scene.clock.advance(10 * RETRY_MS)

    assert [name for name, _ in scene.answers] == ["later", "in flight"]
    assert (scene.log.flushes, scene.steps.in_flight) == ([1], [])
    assert scene.said == []
