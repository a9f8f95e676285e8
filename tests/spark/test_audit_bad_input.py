"""What cannot be audited is one line and exit code 2, told before Spark is started where that is possible."""

from pathlib import Path

import pytest

from ..pipeline.logs_on_disk import GOLDEN
from ..serving_process import run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

START_SECONDS_MAX = 60
AUDIT_SECONDS_MAX = 400


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "give one of the options path (segment files) and bootstrap (a broker's host:port)"),
        (("--path", "/nowhere"), "path: there is no /nowhere"),
        (("--path", "t-0"), "path: {folder}/t-0 holds no folder of a partition (topic-partition), and is none"),
        (("--path", "."), "path: there is nothing to read in ."),
        (("--path", str(GOLDEN), "--topics", "other"), f"topics: {GOLDEN} has no topic other"),
        (("--bootstrap", "127.0.0.1:1"), "broker 127.0.0.1:1: no connection: Connection refused"),
        (("--bootstrap", "here"), "bootstrap: host:port, or several with commas, not here"),
        (("--path", str(GOLDEN), "--sent", "s.jsonl"), "a ledger of what was sent needs --event-id"),
        (("--path", str(GOLDEN), "--event-id", "value"), "event-id: key, header:NAME or json:$.path, not value"),
        (("--path", str(GOLDEN), "-c", "master"), "conf: KEY=VALUE, not master"),
        (("--path", str(GOLDEN), "--json", "no/such/folder"), "json: no/such/folder cannot be written"),
        (("--path", str(GOLDEN), "--parquet", "t-0"), "parquet: t-0 is there already"),
        (("--path", str(GOLDEN), "--html", "t-0"), "html: t-0 cannot be written"),
        (
            ("--path", str(GOLDEN), "--journal", "none.json"),
            "journal: none.json is no file, and no address of an admin API",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t-0").mkdir()
    monkeypatch.chdir(tmp_path)

    ended = run("audit", *arguments, seconds_max=START_SECONDS_MAX)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.startswith(f"fauxka: {reason.format(folder=tmp_path)}")
    assert len(ended.log.splitlines()) == 1


def test_an_event_id_that_no_record_has_is_told() -> None:
    quick = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")

    ended = run("audit", *quick, "--path", str(GOLDEN), "--event-id", "json:$.no.such", seconds_max=AUDIT_SECONDS_MAX)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.splitlines()[-1] == f"fauxka: event-id: no record of {GOLDEN} has json:$.no.such"
