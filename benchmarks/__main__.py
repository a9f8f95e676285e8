"""Measure all brokers, or the named ones; or the cost of one part of fauxka."""

import argparse
import json
import os
import time
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

from . import (
    against,
    client,
    disk,
    fairness,
    fault_injection,
    fixture,
    growth,
    instructions,
    nodes,
    pipeline,
    report,
    scale,
    soak,
    tls,
)
from .load_program import LoadError
from .measurement import Figures, measure, medians
from .targets import TARGETS, Target, running

# The parts of --page, whose module needs the package playwright.
PAGE_PARTS = ("start", "live", "heap")
# The part of --pipeline that audits logs of several sizes.
SCALE = "scale"
TARGET_NAMES = [target.name for target in TARGETS]
# The system writes hundreds of megabytes of the last target to disk before the next one is measured.
SETTLE_SECONDS = 1.0


def main() -> None:
    """Measure and print."""
    parser = make_parser()
    arguments = parser.parse_args()
    parts = parts_of(arguments)
    unknown = set(arguments.names) - set(parts)
    if unknown:
        parser.error(f"unknown name {', '.join(sorted(unknown))}; known are {'; '.join(parts)}")
    if arguments.against and arguments.pipeline and SCALE not in arguments.names:
        parser.error(f"--against {arguments.against}: with --pipeline the names must contain {SCALE}")
    results = soak.main(arguments.soak, arguments.names) if arguments.soak else run(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


def parts_of(arguments: argparse.Namespace) -> Collection[str]:
    """Return the names that the selected benchmark knows."""
    if arguments.disk:
        return disk.PARTS
    if arguments.growth:
        return growth.PARTS
    if arguments.soak:
        return soak.PARTS
    if arguments.page:
        return PAGE_PARTS
    return (*pipeline.PARTS, SCALE) if arguments.pipeline else TARGET_NAMES


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds over all targets; the figures are medians")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--disk", action="store_true", help="measure the log on disk; names are parts")
    parser.add_argument("--instruments", action="store_true", help="measure the fault rules and the journal")
    parser.add_argument("--instructions", action="store_true", help="count instructions of a start and a Produce")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="compare this checkout with another one; alone or with --pipeline scale",
    )
    parser.add_argument("--growth", action="store_true", help="measure more connections, partitions and topics")
    parser.add_argument(
        "--soak", type=soak.seconds_of_run, metavar="SECONDS", help="watch memory under a load with retention"
    )
    parser.add_argument("--client", action="store_true", help="measure confluent-kafka with each broker")
    parser.add_argument("--fairness", action="store_true", help="measure small requests beside clients that use all")
    parser.add_argument("--nodes", action="store_true", help="measure three nodes with three replicas")
    parser.add_argument("--tls", action="store_true", help="measure Produce by TLS beside Kafka")
    parser.add_argument("--fixture", action="store_true", help="measure start and reset of a broker for tests")
    parser.add_argument("--page", action="store_true", help="measure the page of the admin API in headless Chromium")
    parser.add_argument("--container-start", metavar="IMAGE", help="measure the start of a container with this image")
    parser.add_argument("--pipeline", action="store_true", help="measure decoder and data source; names are parts")
    parser.add_argument(
        "--records",
        type=record_counts,
        default=scale.RECORD_COUNTS,
        metavar="1e6,1e7",
        help="with --pipeline scale: the sizes of the generated logs, in records",
    )
    names = (
        f"any of: {'; '.join(TARGET_NAMES)}; with --disk: {'; '.join(disk.PARTS)}; "
        f"--growth: {'; '.join(growth.PARTS)}; --soak: {'; '.join(soak.PARTS)}; --page: {'; '.join(PAGE_PARTS)}"
    )
    parser.add_argument("names", nargs="*", help=names)
    return parser


def run(arguments: argparse.Namespace) -> Mapping[str, Figures]:
    """Run the benchmark in rounds that the options select, and return its figures."""
    names, rounds = arguments.names, arguments.rounds
    if arguments.pipeline:
        # The scale part takes minutes and runs alone.
        is_scale = SCALE in names
        return scale.main(arguments.records, arguments.against) if is_scale else pipeline.main(names, rounds)
    if arguments.against:
        return against.main(arguments.against, rounds)
    if arguments.instructions:
        return instructions.main()
    if arguments.growth:
        return growth.main(names, rounds)
    if arguments.container_start:
        return run_container_start(arguments.container_start, rounds)
    for is_chosen, benchmark in (
        (arguments.instruments, fault_injection.main),
        (arguments.client, client.main),
        (arguments.fairness, fairness.main),
        (arguments.fixture, fixture.main),
        (arguments.nodes, nodes.main),
        (arguments.tls, tls.main),
        (arguments.page, partial(run_page, names)),
    ):
        if is_chosen:
            return benchmark(rounds)
    return disk.main(names, rounds) if arguments.disk else measure_targets(names, rounds)


def run_container_start(image: str, rounds: int) -> Mapping[str, Figures]:
    """Run the benchmark of containers, and load the package testcontainers for it."""
    from . import container_start

    return container_start.main(image, rounds)


def run_page(names: list[str], rounds: int) -> Mapping[str, Figures]:
    """Run the benchmark of the page, and load the package playwright for it."""
    from . import page

    return page.main(names, rounds)


def record_counts(text: str) -> tuple[int, ...]:
    """Return the numbers of text such as 1e6,1e7."""
    return tuple(int(float(number)) for number in text.split(","))


def measure_targets(names: list[str], round_count: int) -> dict[str, Figures]:
    """Measure the named targets, or all, and print the table and the goals."""
    chosen = [target for target in TARGETS if not names or target.name in names]
    print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}")
    results = measure_in_turn(chosen, round_count)
    print(report.table(results), report.checklist(results), sep="\n\n")
    return results


def measure_in_turn(targets: list[Target], round_count: int) -> dict[str, Figures]:
    """Return the medians of each target. Each round measures all of them, so a slow minute affects all.

    Each target is started once before, without measuring, to load its files and compile Python's bytecode.
    """
    rounds: dict[str, list[Figures]] = {}
    for target in targets:
        if target.missing is not None:
            print(f"{target.name} is skipped: it needs {target.missing}")
            continue
        rounds[target.name] = []
        with running(target):
            pass
    for _ in range(round_count):
        for target in targets:
            if target.name in rounds:
                time.sleep(SETTLE_SECONDS)
                rounds[target.name].append(_measure(target))
    return {name: medians(figures) for name, figures in rounds.items()}


def _measure(target: Target) -> Figures:
    try:
        with running(target) as broker:
            return measure(broker)
    except (LoadError, RuntimeError) as error:
        print(f"{target.name}: {error}")
        return {}


if __name__ == "__main__":
    main()
