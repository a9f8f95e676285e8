"""`fauxka audit` of parts of a log: each run goes on where the last one ended."""

import json
from pathlib import Path
from typing import Any

import pytest

from fauxka.testing import Broker

from ..serving_process import Ended
from .test_audit_command import audit, producer_at, send

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


Verdict = dict[str, Any]


def next_audit(broker: Broker, folder: Path, *arguments: str) -> tuple[Ended, Verdict]:
    """Audit from the end of the last audit on, and return the verdict."""
    offsets, verdict = folder / "offsets.json", folder / "verdict.json"
    log = ("--bootstrap", broker.bootstrap_servers, "--topics", "orders", "--event-id", "key")
    ended = audit(*log, "--since", str(offsets), "--offsets-out", str(offsets), "--json", str(verdict), *arguments)
    return ended, json.loads(verdict.read_text())


def test_each_audit_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    with Broker() as broker:
        broker.topics.create("orders", partitions=2)
        producer = producer_at(broker.bootstrap_servers, is_idempotent=False)
        send(producer, (0, 1, 2, 1))
        first, first_verdict = next_audit(broker, tmp_path)
        send(producer, (3, 4, 3))
        second, second_verdict = next_audit(broker, tmp_path)

    assert (first.exit_code, second.exit_code) == (1, 1), first.log + second.log
    assert f"  note: {tmp_path}/offsets.json does not exist: audited from the beginning" in first.output.splitlines()
    assert first_verdict["range"] == {
        **{"words": None, "starts": {"orders": {"0": 0, "1": 0}}},
        "ends": {"orders": {"0": 4, "1": 0}},
    }
    assert "  since the given offsets: offsets 4 to 6 of orders-0, nothing of orders-1" in second.output.splitlines()
    assert second_verdict["range"]["ends"] == json.loads((tmp_path / "offsets.json").read_text())
    (group,) = second_verdict["groups"]
    assert [(one["event_id"], one["offset"], one["other_offset"]) for one in group["examples"]] == [("order-3", 6, 4)]
