"""What lists and events leave out of very much, and say that they do."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from fauxka.admin import state_watch
from fauxka.admin.operations import held_operations
from fauxka.admin.operations.held_operations import held_request_info
from fauxka.admin.state_watch import NAMES_CHARACTERS_MAX, Changes, Page, StateWatch
from fauxka.broker.dispatch.held_requests import HeldRequest
from fauxka.protocol.request_facts import BatchFacts, RequestFacts

from ..faults.journal_scene import FakeRequest


@pytest.mark.parametrize(("characters", "is_named"), [(100, True), (NAMES_CHARACTERS_MAX // 9, False)])
def test_part_with_very_long_names_may_have_changed_as_a_whole(
    characters: int, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_watch, "LOOK_SECONDS", 0.0)
    names = [f"{index}" + "a" * characters for index in range(10)]
    state = 0

    def pages() -> Iterator[Page]:
        yield [(name, state) for name in names]

    async def changes() -> Changes:
        nonlocal state
        watch = StateWatch()
        with watch.watching({"groups": pages}):
            version = await watch.seen_version()
            state = 1
            while watch.version < version + len(names):
                await asyncio.sleep(0)
            return watch.changed_since(version)

    changed = asyncio.run(changes())["groups"]
    assert (sorted(changed) if changed is not None else None) == (names if is_named else None)


def test_batches_that_a_held_request_leaves_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_operations, "BATCHES_MAX", 2)
    batches = [BatchFacts("a" * 300, partition, 1, 0, 0, 0, 1, memoryview(b"")) for partition in range(5)]
    request = FakeRequest(named=RequestFacts(topics=("a" * 300,), batches=batches))
    held = SimpleNamespace(held_id=1, rule_id=1, kind="hold", point="received", since_ms=0, request=request)

    info = held_request_info(cast(HeldRequest, held))

    assert (len(info.batches), info.batches_left_out) == (2, 3)
    shown = "a" * 249 + "… (300 characters)"
    assert (info.topics, info.batches[0].topic) == ([shown], shown)
