"""The command that shows more of a group of findings.

- A finding with a place in a log: `fauxka records` with the source of the run, at its offset and at the one with which
  it was compared. A finding of the log itself is shown in each replica too.
- Any other finding: the command of the run again, which prints all findings and not only the first examples.
- A command is quoted for a POSIX shell. Text of a log, such as a topic, is one word of it.
- No command has a secret (repeated_command.py). A log whose options have one is not read by `fauxka records`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping

from ..read.connection_options import COMMAND_CONFIG, KAFKA_PREFIX
from ..read.store_address import local_path_of
from ..repeated_command import without_secrets
from .summary import Example, FindingGroup, RunCommands

# The options of `fauxka records` by the options of the data source.
_SOURCE_OPTIONS = {
    **{"path": "--path", "tier": "--tier", "bootstrap": "--bootstrap"},
    **{COMMAND_CONFIG: "--command-config", "storageAttempts": "--storage-attempts"},
}
_PATHS = ("path", "tier", COMMAND_CONFIG)
_ALL_FINDINGS = ("--json", "-")


def source_words(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the options with which `fauxka records` reads a log; none if it would need a secret.

    options: of the data source.
    """
    given = {name: options[name] for name in _SOURCE_OPTIONS if name in options}
    has_secret = any(without_secrets(value) != value for value in given.values())
    if has_secret or any(name.lower().startswith(KAFKA_PREFIX) for name in options):
        return ()
    words: list[str] = []
    for name, value in given.items():
        # The report may be read in another folder.
        path = local_path_of(value) if name in _PATHS else None
        words += [_SOURCE_OPTIONS[name], value if path is None else os.path.abspath(path)]
    return tuple(words)


def command_for(group: FindingGroup, run: RunCommands) -> str | None:
    """Return the command for a group as one line; None if the run has no command line to repeat."""
    example = next((one for one in group.examples if _is_placed(one)), None)
    if example is None or not run.log:
        return shlex.join([*run.again, *_ALL_FINDINGS]) if run.again else None
    places = [word for place in dict.fromkeys(_places(group, example)) for word in ("--at", place)]
    logs = (run.log, *filter(None, run.replicas)) if group.check == "log" else (run.log,)
    return " && ".join(shlex.join(["fauxka", "records", *log, *places]) for log in logs)


def _is_placed(example: Example) -> bool:
    return None not in (example.topic, example.partition, example.offset)


def _places(group: FindingGroup, example: Example) -> Iterator[str]:
    yield f"{example.topic}-{example.partition}:{example.offset}"
    # Of a comparison it is an offset of the right side.
    if example.other_offset is not None and group.check != "compare":
        partition = example.partition if example.other_partition is None else example.other_partition
        yield f"{example.topic}-{partition}:{max(example.other_offset, 0)}"
