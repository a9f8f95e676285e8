"""Invalid input of an audit: one line and exit code 2, if possible before Spark starts."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from fauxka.pipeline import audit_command

from ..pipeline.logs_on_disk import GOLDEN, batches, write_segment
from ..serving_process import COMMAND, environment, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

START_SECONDS_MAX = 60
AUDIT_SECONDS_MAX = 400
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")

# Root can read every file unless it drops that capability.
_RIGHTS = "-dac_override,-dac_read_search"
BOUND_BY_PERMISSIONS = (
    ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}", *COMMAND) if os.geteuid() == 0 else COMMAND
)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "set exactly one of the options path (segment files) and bootstrap (a broker's host:port)"),
        (("--path", "/nowhere"), "path: there is no /nowhere"),
        (("--path", "t-0"), "path: {folder}/t-0 neither is nor contains the folder of a partition (topic-partition)"),
        (("--path", "."), "path: . contains no batches"),
        (("--path", str(GOLDEN), "--topics", "other"), f"topics: {GOLDEN} has no topic other"),
        (("--bootstrap", "127.0.0.1:1"), "broker 127.0.0.1:1: no connection: Connection refused"),
        (("--bootstrap", "here"), "bootstrap: must be host:port, or several separated by commas, not here"),
        (("--path", str(GOLDEN), "--sent", "s.jsonl"), "sent: a ledger of sent events needs --event-id"),
        (("--path", str(GOLDEN), "--event-id", "key", "--sent", "s.jsonl"), "sent: there is no s.jsonl"),
        (
            ("--path", str(GOLDEN), "--event-id", "value"),
            "event-id: must be key, header:NAME, json:$.path, avro:field or protobuf:field, or several joined by +",
        ),
        (
            ("--path", str(GOLDEN), "--as-of", "noon"),
            "as-of: must be a time such as 2026-01-31T12:00:00Z, milliseconds since 1970, or a duration such as 24h",
        ),
        (
            ("--path", str(GOLDEN), "--since", "noon"),
            "since: must be a time such as 2026-01-31T12:00:00Z, milliseconds since 1970, a duration such as 24h,",
        ),
        (
            ("--path", str(GOLDEN), "--topics", "demo", "--since", "ahead.json"),
            "since: demo-0 ends at offset 15, in front of 99: its log was truncated, or its topic created again",
        ),
        (("--path", str(GOLDEN), "--fail-on", "copies"), "fail-on: must be none, or some of aborted_transaction, "),
        (("--path", str(GOLDEN), "--baseline", "none.json"), "baseline: there is no none.json"),
        (
            ("--path", str(GOLDEN), "--json", "-", "--junit", "-"),
            "junit: only one of json and junit can be - (standard output)",
        ),
        (("--path", str(GOLDEN), "-c", "master"), "conf: must be KEY=VALUE, not master"),
        (("--path", str(GOLDEN), "--json", "no/such/folder"), "json: no/such/folder cannot be written"),
        (("--path", str(GOLDEN), "--parquet", "t-0"), "parquet: t-0 exists already"),
        (("--path", str(GOLDEN), "--html", "t-0"), "html: t-0 cannot be written"),
        (
            ("--path", str(GOLDEN), "--journal", "none.json"),
            "journal: none.json is neither a file nor the address of an admin API",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "ahead.json").write_text('{"demo": {"0": 99}}')
    monkeypatch.chdir(tmp_path)

    ended = run("audit", *arguments, seconds_max=START_SECONDS_MAX)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.startswith(f"fauxka: {reason.format(folder=tmp_path)}")
    assert len(ended.log.splitlines()) == 1


@pytest.mark.parametrize("unreadable", ["t-0", "t-0/00000000000000000000.log"])
@pytest.mark.parametrize("command", [("audit",), ("dedup", "--from", "t", "--to", "./once", "--event-id", "key")])
def test_an_unreadable_file_is_named(tmp_path: Path, unreadable: str, command: tuple[str, ...]) -> None:
    write_segment(tmp_path / "t-0", batches(0, 2))
    (tmp_path / unreadable).chmod(0)

    try:
        ended = run(*command, "--path", str(tmp_path), command=BOUND_BY_PERMISSIONS, seconds_max=START_SECONDS_MAX)
    finally:
        (tmp_path / unreadable).chmod(0o700)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == f"fauxka: path: {tmp_path / unreadable} cannot be read: Permission denied\n"


def test_messages_of_the_formats_before_0_11_are_findings(tmp_path: Path) -> None:
    olds = [bytes(8) + (30).to_bytes(4, "big") + bytes(4) + bytes([magic]) + bytes(25) for magic in (0, 1)]
    stored = batches(0, 3)
    write_segment(tmp_path / "t-0", [stored[0], *olds, *stored[1:]])

    ended = run("audit", *QUICK, "--path", str(tmp_path), "--json", "-", seconds_max=AUDIT_SECONDS_MAX)

    assert ended.exit_code == 1, ended.log
    (group,) = json.loads(ended.output)["groups"]
    assert (group["kind"], group["cause"], group["findings"]) == ("damaged_batch", "old_format", 2)
    assert {example["detail"].partition(": ")[2] for example in group["examples"]} == {
        f"a message of magic {magic}, the format before Kafka 0.11, with a wrong CRC or size" for magic in (0, 1)
    }


def test_an_event_id_that_no_record_has_is_an_error() -> None:
    ended = run("audit", *QUICK, "--path", str(GOLDEN), "--event-id", "json:$.no.such", seconds_max=AUDIT_SECONDS_MAX)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.splitlines()[-1] == f"fauxka: event-id: no record of {GOLDEN} has json:$.no.such"


def test_the_verdict_is_printed_though_a_file_cannot_be_written() -> None:
    ended = run("audit", *QUICK, "--path", str(GOLDEN), "--html", "/dev/full", seconds_max=AUDIT_SECONDS_MAX)

    assert ended.exit_code == 2
    assert "Verdict: " in ended.output
    assert ended.log.splitlines()[-1] == "fauxka: html: /dev/full: No space left on device"


def test_a_defect_of_the_audit_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise RuntimeError("a defect")

    monkeypatch.setattr(audit_command, "_run", fail)

    with pytest.raises(SystemExit) as ended:
        audit_command.audit.main(["--path", "."])

    assert ended.value.code == 2
    assert "RuntimeError: a defect" in capsys.readouterr().err


def test_a_killed_jvm_is_one_line(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 10))
    command = [*COMMAND, "audit", "--path", str(tmp_path), *QUICK]

    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        # The first progress line shows that Spark is running.
        words = [run.stderr.readline()]
        os.kill(jvm_of(run.pid), signal.SIGKILL)
        _, rest = run.communicate(timeout=AUDIT_SECONDS_MAX)
        words += rest.splitlines()

    assert run.returncode == 2
    assert words[-1].startswith("fauxka: ")
    assert "Spark's log: " in words[-1]
    assert not any("Traceback" in word for word in words)


def jvm_of(process_id: int) -> int:
    """Return the Java process among the descendants of a process."""
    (found,) = [one for one in descendants(process_id) if Path(f"/proc/{one}/comm").read_text() == "java\n"]
    return found


def descendants(process_id: int) -> list[int]:
    files = Path(f"/proc/{process_id}/task").glob("*/children")
    children = [int(child) for file in files for child in file.read_text().split()]
    return [*children, *(further for child in children for further in descendants(child))]
