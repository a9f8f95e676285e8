"""Members with a group.instance.id, which come back under a new member id."""

from __future__ import annotations

from fauxka.protocol.error_codes import ErrorCode

from .group_play import REBALANCE_TIMEOUT_MS, SESSION_TIMEOUT_MS, GroupPlay, answered, assigned


def _static_pair(play: GroupPlay) -> tuple[str, str]:
    play.start_join("a", instance="i-a")
    play.start_sync("i-a-1", 1, {})
    newcomer = play.start_join("b", instance="i-b")
    play.start_join("a", "i-a-1", instance="i-a")
    b = answered(newcomer).member_id
    play.start_sync(b, 2)
    play.start_sync("i-a-1", 2, {"i-a-1": b"left", b: b"right"})
    return "i-a-1", b


def test_a_follower_comes_back_without_a_rebalance_and_keeps_its_assignment() -> None:
    play = GroupPlay()
    a, _ = _static_pair(play)

    response = answered(play.start_join("new", instance="i-b", version=9))

    assert (response.generation_id, response.leader, response.skip_assignment) == (2, a, False)
    assert assigned(play.start_sync(response.member_id, 2)).assignment == b"right"
    assert play.state == "Stable"


def test_a_leader_comes_back_and_is_told_to_skip_the_assignment() -> None:
    play = GroupPlay()
    _static_pair(play)

    response = answered(play.start_join("new", instance="i-a", version=9))

    assert response.skip_assignment
    assert response.leader == response.member_id
    assert {member.group_instance_id for member in response.members} == {"i-a", "i-b"}


def test_a_leader_of_an_old_version_comes_back_as_a_follower_of_itself() -> None:
    play = GroupPlay()
    a, _ = _static_pair(play)

    response = answered(play.start_join("new", instance="i-a", version=8))

    assert (response.leader, response.members, response.skip_assignment) == (a, [], False)


def test_the_session_of_a_static_member_that_is_away_still_ends() -> None:
    play = GroupPlay()
    a, _ = _static_pair(play)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.heartbeat(a, 2)

    play.clock.advance(1)

    assert play.member_ids == [a]
    assert play.state == "PreparingRebalance"


def test_a_member_that_came_back_lives_on_its_own_session() -> None:
    play = GroupPlay()
    a, old = _static_pair(play)
    play.clock.advance(SESSION_TIMEOUT_MS // 2)
    new = answered(play.start_join("new", instance="i-b", version=9)).member_id

    play.heartbeat(a, 2)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert set(play.member_ids) == {a, new}
    assert play.heartbeat(old, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_lost_leader_stays_a_member_while_the_rebalance_goes_on_without_it() -> None:
    play = GroupPlay()
    a, b = _static_pair(play)
    rejoined = play.start_join("b", b, instance="i-b", protocols={"range": b"other metadata"})

    for _ in range(REBALANCE_TIMEOUT_MS // SESSION_TIMEOUT_MS + 1):
        play.heartbeat(a, 2)
        play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert answered(rejoined).leader == b
    assert set(play.member_ids) == {a, b}


def test_a_request_that_waits_under_the_old_id_is_fenced() -> None:
    play = GroupPlay()
    _, b = _static_pair(play)
    waiting = play.start_join("b", b, instance="i-b", protocols={"range": b"other metadata"})

    play.start_join("new", instance="i-b")

    assert answered(waiting).error_code == ErrorCode.FENCED_INSTANCE_ID
