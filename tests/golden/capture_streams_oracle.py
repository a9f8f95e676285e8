"""Writes streams_oracle-*.jsonl anew: what Kafka's own classes assign, and how a member moves to its target.

python -m tests.golden.capture_streams_oracle draws the questions, with a fixed seed, and asks StreamsOracle.java.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ..reference.kafka_process import reference_jars

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "streams_oracle"
VERSIONS = ("4.3.0", "4.4.0")
SEED = 1071
SECONDS_MAX = 120

ASSIGNMENT_COUNT = 500
STEP_COUNT = 500
SUBTOPOLOGIES_MAX, PARTITIONS_MAX, MEMBERS_MAX, PROCESSES_MAX = 6, 9, 12, 6
# Of a step: few, so that tasks meet.
STEP_TASKS = tuple(f"{subtopology}_{partition}" for subtopology in "01" for partition in range(3))
STEP_PROCESSES = ("p", "q")


def questions(draw: random.Random) -> list[str]:
    """Return the questions, a line each."""
    return [
        *(_assignment(draw) for _ in range(ASSIGNMENT_COUNT)),
        *(_step(draw) for _ in range(STEP_COUNT)),
    ]


def _assignment(draw: random.Random) -> str:
    """Return a question about members with tasks that an earlier assignment could have left them."""
    counts = {
        str(number): (draw.randint(1, PARTITIONS_MAX), draw.random() < 0.7)
        for number in draw.sample(range(30), draw.randint(1, SUBTOPOLOGIES_MAX))
    }
    processes = [f"process-{draw.randrange(1000)}" for _ in range(draw.randint(1, PROCESSES_MAX))]
    members = list(dict.fromkeys(f"member-{draw.randrange(10_000)}" for _ in range(draw.randint(1, MEMBERS_MAX))))
    tasks = [f"{name}_{partition}" for name, (count, _) in counts.items() for partition in range(count)]
    density = draw.choice((0.0, 0.5, 1.0))
    active = {task: draw.choice(members) for task in tasks if draw.random() < density}
    # A member that works alone has had most tasks.
    if draw.random() < 0.3:
        active = dict.fromkeys(tasks, members[0])
    entries: list[str] = []
    for member in members:
        standby = [task for task in tasks if active.get(task) != member and draw.random() < density / 4]
        offsets = [f"{task}@{draw.choice((0, 5, 9))}" for task in tasks if draw.random() < density / 8]
        own = [task for task, owner in active.items() if owner == member]
        entries.append("/".join((member, draw.choice(processes), *map(_listed, (own, standby, offsets)))))
    described = ",".join(f"{name}={count}:{int(stateful)}" for name, (count, stateful) in counts.items())
    return f"assign\t{draw.choice((0, 0, 1, 2))}\t{described}\t{','.join(entries)}"


def _step(draw: random.Random) -> str:
    """Return a question about a member of process p that has tasks, and is to have others."""
    epoch = draw.randint(3, 5)
    target = _three(draw)
    had = _three(draw)
    given = _three(draw) if draw.random() < 0.4 else had
    pending = [[task for task in each if task not in own] for each, own in zip(given, had, strict=True)]
    owned = "-" if draw.random() < 0.2 else _slashed(_three(draw) if draw.random() < 0.5 else had)
    owners = [_owners(draw, own + more) for own, more in zip(had, pending, strict=True)]
    owners[0] = [each.split(";")[0] for each in owners[0]]
    state = draw.choice((1, 1, 2, 3, 127))
    member_epoch = draw.randint(2, epoch)
    epochs = f"{member_epoch}/{member_epoch - 1}"
    member = f"{epochs}/{state}/p/{_with_epochs(draw, had)}/{_with_epochs(draw, pending)}"
    return f"step\t{epoch}\t{_slashed(target)}\t{owned}\t{'/'.join(map(_listed, owners))}\t{member}"


def _three(draw: random.Random) -> tuple[list[str], list[str], list[str]]:
    """Return active, standby and warm-up tasks, each task in one list at most."""
    lists: tuple[list[str], list[str], list[str]] = ([], [], [])
    for task in STEP_TASKS:
        if draw.random() < 0.6:
            draw.choice((lists[0], lists[0], lists[1], lists[1], lists[2])).append(task)
    return lists


def _owners(draw: random.Random, own: Sequence[str]) -> list[str]:
    """Return the processes of tasks: p of those that the member has, and some of others."""
    owners: list[str] = []
    for task in STEP_TASKS:
        processes = {"p"} if task in own else set[str]()
        if draw.random() < 0.3:
            processes.add(draw.choice(STEP_PROCESSES))
        if processes:
            owners.append(f"{task}={';'.join(sorted(processes))}")
    return owners


def _with_epochs(draw: random.Random, tasks: Sequence[Sequence[str]]) -> str:
    active = [f"{task}@{draw.randint(1, 3)}" for task in tasks[0]]
    return _slashed((active, tasks[1], tasks[2]))


def _slashed(lists: Iterable[Sequence[str]]) -> str:
    return "/".join(map(_listed, lists))


def _listed(tasks: Sequence[str]) -> str:
    return "+".join(tasks)


def golden_of(version: str) -> Path:
    """Return the file of a release."""
    return FOLDER / f"streams_oracle-{version}.jsonl"


def main() -> None:
    """Ask the classes of each release."""
    asked = questions(random.Random(SEED))
    for version in VERSIONS:
        with golden_of(version).open("w") as output:
            for question, answer in zip(asked, answers_of(version, asked), strict=True):
                output.write(json.dumps([question.split("\t"), answer]) + "\n")


def answers_of(version: str, asked: Sequence[str]) -> list[str]:
    """Return what the classes of a release answer."""
    jars = f"{reference_jars(version)}/*"
    assignor = SOURCES / f"assignor_{version.replace('.', '_')}" / "Assignor.java"
    with TemporaryDirectory() as classes:
        compiling = ["javac", "-cp", jars, "-d", classes, str(SOURCES / "StreamsOracle.java"), str(assignor)]
        subprocess.run(compiling, check=True, timeout=SECONDS_MAX)
        command = ["java", "-cp", f"{classes}:{jars}", "StreamsOracle"]
        text = "\n".join(asked) + "\n"
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=SECONDS_MAX)
    return done.stdout.splitlines()


if __name__ == "__main__":
    main()
