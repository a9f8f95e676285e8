"""Compares a fauxka with a real Kafka in the worlds of a seed: python -m tests.golden.acl_matrix SEED."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from ..acl_brokers import fauxka_with_acls, kafka_with_acls
from .capture import answers_of
from .worlds import worlds


def main() -> None:
    """Print each answer that differs, and how many there are."""
    seed = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        of_kafka = answers_of(seed, lambda broker: kafka_with_acls(Path(folder) / "kafka.log", broker))
        of_fauxka = answers_of(seed, lambda broker: fauxka_with_acls(_new(Path(folder) / broker), broker))
    answer_count, different_count = 0, 0
    for world in worlds(seed):
        for (request, version), kafka, fauxka in zip(
            world.asked, of_kafka[world.name], of_fauxka[world.name], strict=True
        ):
            answer_count += 1
            if kafka != fauxka:
                different_count += 1
                print(f"{world.name}, {request.name(version)}")
                print(f"  Kafka:  {json.dumps(kafka)}\n  fauxka: {json.dumps(fauxka)}")
    print(f"{answer_count} answers, {different_count} different")


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


main()
