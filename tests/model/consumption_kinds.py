"""The findings of verdicts on groups, planted and found: precision and recall of each kind and cause.

python -m tests.model.consumption_kinds --runs 3000 --broker-runs 100
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from random import SystemRandom
from typing import Protocol

from fauxka.testing import Broker

from .consumer_model import ConsumerModel
from .processing_model import ProcessingModel
from .share_group_model import ShareGroupModel
from .wire_broker import CONFIG, NODES
from .wire_model import WireModel

RUNS, STEPS = 1000, 60
# The runs whose difference is printed.
SHOWN_MAX = 10

# Kind and cause.
Pair = tuple[str, str]


class Model(Protocol):
    """A group with planted faults."""

    def run(self, steps: int) -> None:
        """Do so many steps."""
        ...

    def expected(self) -> Collection[tuple[str | int, ...]]:
        """Return the truth: kind, cause and place."""
        ...

    def found(self) -> Collection[tuple[str | int, ...]]:
        """Return what the verdict says."""
        ...


MODELS: dict[str, Callable[[int], Model]] = {
    "consumers": ConsumerModel,
    "processing": ProcessingModel,
    "share groups": ShareGroupModel,
}


class Comparison:
    """How many offsets were planted, found and both, by kind and cause."""

    def __init__(self) -> None:
        self.planted: Counter[Pair] = Counter()
        self.found: Counter[Pair] = Counter()
        self.right: Counter[Pair] = Counter()
        self.differences: list[str] = []

    def add(self, name: str, seed: int, model: Model) -> None:
        """Run a model, and count what was planted and found."""
        try:
            model.run(STEPS)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}")
            raise
        expected, found = set(model.expected()), set(model.found())
        self.planted.update(map(_pair_of, expected))
        self.found.update(map(_pair_of, found))
        self.right.update(map(_pair_of, expected & found))
        if expected != found:
            missed, invented = sorted(expected - found), sorted(found - expected)
            self.differences.append(f"{name}, seed {seed}: missed {missed}, invented {invented}")

    def add_in_broker(self, seed: int, broker: Broker) -> None:
        """Run the consumers in a broker, which is reset before, and count what was planted and found."""
        model = WireModel(seed, broker)
        with model.broker:
            self.add("broker", seed, model)

    def table(self) -> Iterator[str]:
        """Yield the lines of a table."""
        yield f"{'kind':26} {'cause':28} {'planted':>8} {'found':>8} {'precision':>9} {'recall':>7}"
        for pair in sorted(self.planted | self.found):
            planted, found, right = self.planted[pair], self.found[pair], self.right[pair]
            precision, recall = right / found if found else 1.0, right / planted if planted else 1.0
            yield f"{pair[0]:26} {pair[1]:28} {planted:8} {found:8} {precision:9.4f} {recall:7.4f}"


def _pair_of(truth: tuple[str | int, ...]) -> Pair:
    return str(truth[0]), str(truth[1])


def main() -> int:
    """Return 1 if the verdicts of a run are not exact."""
    parser = argparse.ArgumentParser(prog="python -m tests.model.consumption_kinds", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help=f"of each model; {RUNS} by default")
    parser.add_argument("--seed", type=int, help="of the first run; drawn by default")
    parser.add_argument("--only", choices=MODELS, action="append", help="models; all by default")
    parser.add_argument(
        "--broker-runs", type=int, default=0, metavar="N", help="of consumers in a real broker; 0 by default"
    )
    arguments = parser.parse_args()
    first = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    comparison = Comparison()
    for name in arguments.only or MODELS:
        for seed in range(first, first + arguments.runs):
            comparison.add(name, seed, MODELS[name](seed))
    if arguments.broker_runs:
        with Broker(CONFIG, nodes=NODES) as broker:
            for seed in range(first, first + arguments.broker_runs):
                comparison.add_in_broker(seed, broker)
    print(*comparison.table(), *comparison.differences[:SHOWN_MAX], sep="\n")
    wrong = len(comparison.differences)
    print(f"seeds from {first}: {wrong} runs differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
