"""Compares a fauxka with a real Kafka in the exchanges of a seed: python -m tests.golden.login_probes SEED."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path

from .brokers import fauxka_with_probes, kafka_with_probes
from .capture import capture
from .known import find_reason


def main() -> None:
    """Print each case that differs and is not known to, and how many there are."""
    seed = int(sys.argv[1])
    answers: list[list[str]] = []
    for running in (kafka_with_probes, fauxka_with_probes):
        output = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as addresses:
            capture(addresses, output, seed)
        answers.append(output.getvalue().removesuffix("\n").split("\n"))
    different = [
        (kafka, fauxka) for kafka, fauxka in zip(*answers, strict=True) if kafka != fauxka and not _is_known(kafka)
    ]
    for kafka, fauxka in different:
        print(f"Kafka:  {kafka}\nfauxka: {fauxka}")
    print(f"{len(answers[0])} cases, {len(different)} different")


def _is_known(line: str) -> bool:
    case = json.loads(line)
    return find_reason(f"{case['case']} on {case['listener']}") is not None


main()
