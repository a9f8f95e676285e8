"""Compares fauxka with real Kafkas of other releases, and writes the table of docs/versions.md.

    python -m tests.golden.certify --versions all             start each release, capture it again, and compare
    python -m tests.golden.certify --versions 2.8.2,3.9.1     these ones; compare the others with their captures
    python -m tests.golden.certify --versions all --programs exp_sequences    the cases of one program again
    python -m tests.golden.certify                            compare all with their captures

A real Kafka needs Java 17 and, on first use, Maven; a release takes one to three minutes.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ..reference.kafka_process import reference_jars, running_kafka
from ..wire.wire_connection import ConnectionClosedError
from .case_recorder import Case
from .programs import PROGRAMS
from .raw_apis_transactions import INIT_PRODUCER_ID
from .raw_client import find_coordinator
from .releases.known import broker_like, reason_for
from .releases.release_captures import ReleaseCapture, by_key, load_captures, write_captures
from .releases.release_connection import ReleaseConnection, read_ranges
from .releases.release_recorder import run_programs
from .replay import load_cases

PAGE = Path(__file__).parents[2] / "docs" / "versions.md"
BEGIN = "<!-- begin of the certificate: written by tests/golden/certify.py -->\n"
END = "<!-- end of the certificate: written by tests/golden/certify.py -->\n"
START_SECONDS_MAX = 120.0
# What their keys begin with.
SEQUENCES = "exp_sequences "
FAUXKA_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """One release: its cases, how many have the same error code, and the reason of each that differs.

    sequences: the drawn ones among the cases.
    """

    version: str
    cases: int
    sequences: int
    same_code: int
    different: Mapping[str, str]

    def row(self) -> str:
        """The row of the table."""
        names: dict[str, list[str]] = {}
        for key, reason in self.different.items():
            names.setdefault(reason, []).append(key.split(" ")[1])
        why = "; ".join(f"{', '.join(dict.fromkeys(each))}: {reason}" for reason, each in names.items())
        same = self.cases - len(self.different)
        same_sequences = self.sequences - sum(key.startswith(SEQUENCES) for key in self.different)
        return (
            f"| {self.version} | {self.cases} | {self.same_code} | {same} "
            f"| {same_sequences} of {self.sequences} | {why} |\n"
        )


def capture_release(version: str, programs: Sequence[str]) -> ReleaseCapture:
    """Start a real Kafka and record its cases of the programs."""
    # A first download takes longer than a start may.
    reference_jars(version)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(Path(folder) / "kafka.log", version=version) as address,
    ):
        ranges = read_ranges(address)
        _wait_for_producer_ids(address)
        return ReleaseCapture(version, ranges, by_key(run_programs(address, ranges, programs)))


def _wait_for_producer_ids(address: str) -> None:
    """Wait until the broker gives out producer ids: some time after it responds to ApiVersions."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            with ReleaseConnection(address, read_ranges(address)) as connection:
                find_coordinator(connection, "certify", key_type=1)
                asked = [connection.call(INIT_PRODUCER_ID, 1, {"transactional_id": each}) for each in (None, "certify")]
            if not any(answer.integer("error_code") for answer in asked):
                return
        except (ConnectionClosedError, TimeoutError, OSError):
            pass
        time.sleep(0.2)
    raise TimeoutError(f"the broker at {address} gives out no producer ids")


def compare(capture: ReleaseCapture) -> Comparison:
    """Put the captured cases to a fauxka that follows the release."""
    with broker_like(capture.release) as broker:
        bootstrap = broker.bootstrap_servers
        answers = by_key(run_programs(bootstrap, capture.ranges, patience_seconds=FAUXKA_PATIENCE_SECONDS))
    different = {key: case for key, case in capture.cases.items() if answers.get(key) != case}
    same_code = sum(_has_code_of(case, answers.get(key)) for key, case in capture.cases.items())
    reasons = {
        key: reason_for(str(case["program"]), str(case["case"]), capture.release) or "not yet"
        for key, case in different.items()
    }
    sequences = sum(key.startswith(SEQUENCES) for key in capture.cases)
    return Comparison(capture.version, len(capture.cases), sequences, same_code, reasons)


def _has_code_of(captured: Case, answered: Case | None) -> bool:
    return answered is not None and _codes_of(answered) == _codes_of(captured)


def _codes_of(case: Case) -> list[object]:
    """Return the error code of a case, and those of the batches of a drawn sequence."""
    answers = cast("list[list[int]]", case.get("answers", []))
    return [case["error_code"], *(code for code, _ in answers)]


def write_table(comparisons: Iterable[Comparison]) -> None:
    """Write the rows of the releases to docs/versions.md."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    heading = (
        "| release | cases | same error code | same in every field | of the drawn sequences | different |\n"
        "|---|---|---|---|---|---|\n"
    )
    PAGE.write_text(before + BEGIN + heading + "".join(each.row() for each in comparisons) + END + after)


def main() -> None:
    """Capture the named releases, and compare all."""
    parser = argparse.ArgumentParser(description="Compare fauxka with other releases of Kafka.")
    parser.add_argument("--versions", default="", help="releases to start, such as 2.8.2,3.9.1; all for every one")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="whose cases are captured; all by default")
    arguments = parser.parse_args()
    wanted, programs = arguments.versions, arguments.programs.split(",")
    captures = load_captures()
    started = list(captures) if wanted == "all" else [version for version in wanted.split(",") if version]
    for version in started:
        captured = capture_release(version, programs)
        before: Mapping[str, Case] = captures[version].cases if version in captures else {}
        kept = {key: case for key, case in before.items() if case["program"] not in programs}
        captures[version] = replace(captured, cases={**kept, **captured.cases})
        write_captures(list(captures.values()))
        print(f"{version}: {len(captures[version].cases)} of {len(load_cases())} cases captured", flush=True)
    comparisons: list[Comparison] = []
    for capture in load_captures().values():
        comparisons.append(compare(capture))
        print(comparisons[-1].row(), end="", flush=True)
    write_table(comparisons)
    if any("not yet" in comparison.different.values() for comparison in comparisons):
        raise SystemExit("some cases differ without a reason")


if __name__ == "__main__":
    main()
