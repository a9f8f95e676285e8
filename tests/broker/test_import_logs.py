"""Imported logs of a real Kafka 4.3.0: served in place, or copied into a data folder."""

import hashlib
import shutil
import signal
from pathlib import Path

import pytest

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from ..serving_process import run, serving
from ..storage.logs import records_in
from .blocking_client import BlockingClient
from .data_dir_scene import end, fetched, serving_from

pytestmark = pytest.mark.processes

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "kafka-4.3.0-data-dir"
# The start and end of the log of demo, and a producer whose newest batch has the sequences 3 and 4.
DEMO_START, DEMO_END = 2, 15
KNOWN_PRODUCER, KNOWN_SEQUENCE, KNOWN_OFFSET = 1000, 3, 10
# The minute in which the logs were written; no producer has expired then.
WRITTEN_MS = 1_795_242_099_000


def two_records(sequence: int) -> bytes:
    options = BatchOptions(producer_id=KNOWN_PRODUCER, producer_epoch=0, base_sequence=sequence)
    return build_batch([Record(b"a", timestamp=WRITTEN_MS), Record(b"b", timestamp=WRITTEN_MS)], options)


def content_of(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the hash and modification time of every file."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def stored_records() -> list[Record]:
    """Return the records in the files of demo from the log start offset on."""
    data = b"".join(path.read_bytes() for path in sorted((GOLDEN / "demo-0").glob("*.log")))
    return [record for record in records_in(data) if record.offset >= DEMO_START]


def highest_producer_id() -> int:
    """Return the highest producer id in the batch headers of demo."""
    highest = -1
    for path in (GOLDEN / "demo-0").glob("*.log"):
        data = path.read_bytes()
        while data:
            highest = max(highest, int.from_bytes(data[43:51], "big", signed=True))
            data = data[12 + int.from_bytes(data[8:12], "big") :]
    return highest


def test_imported_topics_are_served_and_nothing_is_written_to_the_folder(tmp_path: Path) -> None:
    before = content_of(GOLDEN)

    with serving(tmp_path, "--import-logs", str(GOLDEN)) as broker, BlockingClient(broker.bootstrap) as client:
        counts = client.partition_counts()
        records = fetched(client, "demo", DEMO_START, DEMO_END)
        below = client.fetch("demo", DEMO_START - 1)
        producer_id = client.producer_id()
        client.produce("demo", two_records(0))
        end(broker, signal.SIGTERM)

    assert counts == {"__transaction_state": 2, "compacted": 1, "demo": 1}
    assert records == stored_records()
    assert below.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert producer_id > highest_producer_id()
    assert content_of(GOLDEN) == before


def test_producers_of_imported_logs_have_their_state() -> None:
    with (
        Broker(import_logs=GOLDEN, clock=manual_clock(WRITTEN_MS)) as broker,
        BlockingClient(broker.bootstrap_servers) as client,
    ):
        repeated = client.produce("demo", two_records(KNOWN_SEQUENCE))
        gap = client.produce("demo", two_records(KNOWN_SEQUENCE + 3))
        following = client.produce("demo", two_records(KNOWN_SEQUENCE + 2))

    assert (repeated.error_code, repeated.base_offset) == (ErrorCode.NONE, KNOWN_OFFSET)
    assert gap.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert (following.error_code, following.base_offset) == (ErrorCode.NONE, DEMO_END)


def test_its_aborted_transactions_are_returned_to_readers_of_committed_records() -> None:
    with Broker(import_logs=GOLDEN) as broker, BlockingClient(broker.bootstrap_servers) as client:
        committed = client.fetch("demo", DEMO_START, isolation_level=1)
        uncommitted = client.fetch("demo", DEMO_START)
        behind = client.fetch("demo", 9, isolation_level=1)

    # The only entry of the transaction index. The transaction from offset 9 on is open.
    assert [(each.producer_id, each.first_offset) for each in committed.aborted_transactions or []] == [(0, 7)]
    assert committed.last_stable_offset == 9
    assert uncommitted.aborted_transactions is None
    assert (behind.aborted_transactions, behind.records) == ([], b"")


def test_logs_copied_into_a_data_folder_survive_a_kill(tmp_path: Path) -> None:
    before = content_of(GOLDEN)
    with serving_from(tmp_path, "--import-logs", str(GOLDEN)) as broker, BlockingClient(broker.bootstrap) as client:
        producer_id = client.producer_id()
        end(broker, signal.SIGKILL)

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        records = fetched(client, "demo", DEMO_START, DEMO_END)
        below = client.fetch("demo", DEMO_START - 1)
        next_id = client.producer_id()
        end(broker, signal.SIGTERM)

    assert records == stored_records()
    assert below.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert next_id > producer_id > highest_producer_id()
    assert content_of(GOLDEN) == before


def test_a_topic_that_exists_already_is_not_imported(tmp_path: Path) -> None:
    with serving_from(tmp_path, "--seed-topic", "demo") as broker:
        end(broker, signal.SIGTERM)

    refused = run("serve", "--port", "0", "--data-dir", str(tmp_path / "data"), "--import-logs", str(GOLDEN))

    assert refused.exit_code == 2
    assert "has a topic demo already" in refused.log
    assert not (tmp_path / "data" / "compacted-0").exists()


def test_an_interrupted_import_is_repeated(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving_from(tmp_path) as broker:
        end(broker, signal.SIGTERM)
    (data / "0.importing").mkdir()
    (data / "0.importing" / "00000000000000000000.log").write_bytes(b"half")

    with serving_from(tmp_path, "--import-logs", str(GOLDEN)) as broker, BlockingClient(broker.bootstrap) as client:
        records = fetched(client, "demo", DEMO_START, DEMO_END)

    assert records == stored_records()
    assert not list(data.glob("*.importing"))


def test_an_import_that_was_interrupted_after_its_first_partition_is_repeated(tmp_path: Path) -> None:
    with serving_from(tmp_path) as broker:
        end(broker, signal.SIGTERM)
    shutil.copytree(GOLDEN / "demo-0", tmp_path / "data" / "demo-0")

    with serving_from(tmp_path, "--import-logs", str(GOLDEN)) as broker, BlockingClient(broker.bootstrap) as client:
        records = fetched(client, "demo", DEMO_START, DEMO_END)

    assert records == stored_records()
    assert len(list((tmp_path / "data").glob("demo-0.*-stray"))) == 1


def test_unsupported_metadata_of_a_topic_costs_no_records(tmp_path: Path) -> None:
    with Broker(import_logs=GOLDEN) as broker, BlockingClient(broker.bootstrap_servers) as client:
        broker.call(broker.cluster.node.replicas.enforce_retention)

        assert client.config(2, "demo", "retention.ms") == "-1"
        assert client.config(2, "compacted", "cleanup.policy") == "compact"
        assert fetched(client, "demo", DEMO_START, DEMO_END) == stored_records()


@pytest.mark.parametrize("arguments", [[], ["--data-dir", "data"]])
def test_a_folder_that_a_broker_uses_is_not_imported(tmp_path: Path, arguments: list[str]) -> None:
    options = [str(tmp_path / "another") if text == "data" else text for text in arguments]
    with serving_from(tmp_path, "--seed-topic", "events"):
        refused = run("serve", "--port", "0", "--import-logs", str(tmp_path / "data"), *options)

    assert refused.exit_code == 2
    assert "a broker is using" in refused.log


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    refused = run("serve", "--port", "0", "--import-logs", str(tmp_path / "missing"))

    assert refused.exit_code == 2
    assert f"there is no folder {tmp_path / 'missing'}" in refused.log
