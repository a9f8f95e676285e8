"""Kills a broker in many rounds: python -m tests.crash [--rounds N] [--seed SEED] [--variant NAME]."""

import argparse
import time

from .crash_rounds import VARIANTS, run_rounds, seed_of_the_day
from .transaction_rounds import run_transaction_rounds

TRANSACTIONS = "transactions"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, help="of the first folder; by default another one with every run")
    parser.add_argument("--variant", choices=[*VARIANTS, TRANSACTIONS], help="one of them; by default all")
    arguments = parser.parse_args()
    seed = seed_of_the_day() if arguments.seed is None else arguments.seed
    for name in [arguments.variant] if arguments.variant else [*VARIANTS, TRANSACTIONS]:
        start = time.monotonic()
        tally = (
            run_transaction_rounds(arguments.rounds, seed)
            if name == TRANSACTIONS
            else run_rounds(VARIANTS[name], arguments.rounds, seed)
        )
        print(f"{name}, seed {seed}: {tally}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
