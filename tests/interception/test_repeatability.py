"""The same rules, seeds and requests give the same journal."""

from __future__ import annotations

import pytest
from msgspec import structs

from fauxka.faults.actions import Drop, Error
from fauxka.faults.journal.journal_entries import JournalEntry, read_entries
from fauxka.faults.rules.fault_rules import When

from .interception_scene import interception_scene

pytestmark = pytest.mark.asyncio

REQUESTS = 60


async def journal_of_a_run(seed: int) -> list[JournalEntry]:
    """Send the same batches through rules with a probability, and return the journal of them.

    Requests of other connections may come between them, so that their ids are no part of the result. Nor is the real
    time that they took.
    """
    async with interception_scene() as scene:
        coin = When(times=None, probability=0.3, seed=seed)
        scene.arm("received", Error(error="NOT_ENOUGH_REPLICAS"), when=coin)
        scene.arm("applied", Drop(), when=coin)
        client = await scene.client()
        for sequence in range(REQUESTS):
            await client.produce(sequence)
            scene.clock.advance(7)
        await scene.settle()
        entries = read_entries(scene.fault_injection.journal)
        return [structs.replace(entry, id=0, took_ms=None) for entry in entries if entry.api == "Produce"]


async def test_the_same_seed_gives_the_same_journal() -> None:
    first, second = await journal_of_a_run(seed=7), await journal_of_a_run(seed=7)

    assert first == second
    assert len({(entry.answered, entry.error) for entry in first}) > 2


async def test_another_seed_gives_another_journal() -> None:
    assert await journal_of_a_run(seed=7) != await journal_of_a_run(seed=8)
