"""The journal of requests on one connection."""

from __future__ import annotations

import pytest

from fauxka.faults.actions import Observe
from fauxka.faults.journal.journal_entries import read_entries
from fauxka.faults.rules.match import Match
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.messages.heartbeat import HeartbeatRequest

from .interception_scene import interception_scene

pytestmark = pytest.mark.asyncio


async def test_journal_has_the_error_of_its_own_request() -> None:
    async with interception_scene() as scene:
        client = await scene.client()
        # From the third on they are recognised by how they begin.
        for sequence in range(2):
            await client.produce(sequence)
            await client.frame()
        # An unknown group.
        await client.send(APIS[ApiKey.HEARTBEAT], 4, HeartbeatRequest(group_id="nobody", member_id="m"))
        await client.frame()
        await client.produce(2)
        await client.frame()

        assert [(entry.api, entry.error) for entry in read_entries(scene.fault_injection.journal)] == [
            ("Produce", None),
            ("Produce", None),
            ("Heartbeat", "UNKNOWN_MEMBER_ID"),
            ("Produce", None),
        ]


async def test_journal_has_the_same_content_with_and_without_a_rule() -> None:
    async with interception_scene() as scene:
        client = await scene.client()
        heartbeat = HeartbeatRequest(group_id="unknown", member_id="m")
        await client.send(APIS[ApiKey.HEARTBEAT], 4, heartbeat)
        await client.frame()

        scene.arm("received", Observe(), match=Match(api="Heartbeat"))
        await client.send(APIS[ApiKey.HEARTBEAT], 4, heartbeat)
        await client.frame()

        assert [entry.group_ids for entry in read_entries(scene.fault_injection.journal)] == [["unknown"], ["unknown"]]
