"""Kills a broker in many rounds: python -m tests.crash [--rounds N] [--seed SEED] [--variant NAME]."""

import argparse
import time

from .crash_rounds import VARIANTS, run_rounds, seed_of_the_day
from .node_rounds import run_node_rounds
from .transaction_rounds import run_transaction_rounds

TRANSACTIONS, NODES = "transactions", "nodes"
NAMES = (*VARIANTS, TRANSACTIONS, NODES)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, help="of the first folder; by default another one with every run")
    parser.add_argument("--variant", choices=NAMES, help="one of them; by default all")
    arguments = parser.parse_args()
    seed = seed_of_the_day() if arguments.seed is None else arguments.seed
    for name in [arguments.variant] if arguments.variant else NAMES:
        start = time.monotonic()
        print(
            f"{name}, seed {seed}: {run_variant(name, arguments.rounds, seed)}, {time.monotonic() - start:.0f} s",
            flush=True,
        )


def run_variant(name: str, rounds: int, seed: int) -> object:
    """Run the rounds, and return their counts."""
    if name == TRANSACTIONS:
        return run_transaction_rounds(rounds, seed)
    if name == NODES:
        return run_node_rounds(rounds, seed)
    return run_rounds(VARIANTS[name], rounds, seed)


if __name__ == "__main__":
    main()
