"""A finding as a test for pytest that fails until the program is mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import NamedTuple

from .arguments import default_config
from .finding import Finding
from .functions import Function
from .options import Options
from .program import Command, Program
from .promise import Promise
from .run import Setting

_TEST = '''\
"""{title}"""

{imports}

RULES = [
{rules}]
PROGRAM = {program}


def test_program_keeps_its_promise():
    replayed = replay(
        PROGRAM,
        RULES,
{arguments}    )

    assert not replayed.is_finding, {sentence!r}
'''


class _Written(NamedTuple):
    """A command or a function as a part of a test. imported: its module, None for a command."""

    expression: str
    imported: str | None = None


def text_of_test(finding: Finding, program: Program, options: Options) -> str | None:
    """Return the test. None if the program, or what runs before or after it, is a function that no test can import."""
    setting = options.setting
    parts = [_written(each) for each in (program, setting.prepare, setting.check)]
    if None in parts:
        return None
    written, before, check = (part or _Written("None") for part in parts)
    arguments = dict(_arguments_of(options)) | {
        name: part.expression for name, part in (("before", before), ("check", check)) if part.expression != "None"
    }
    imports = [f"from {part.imported} import {part.expression}" for part in parts if part and part.imported]
    return _TEST.format(
        title=_in_quotes(str(finding.trial)),
        imports="\n".join(dict.fromkeys(["from fauxka.testing import replay", *sorted(imports)])),
        rules="".join(f"    {rule!r},\n" for rule in finding.rules),
        program=written.expression,
        arguments="".join(f"        {name}={value},\n" for name, value in arguments.items()),
        sentence=finding.sentence,
    )


def _written(part: object) -> _Written | None:
    """Return a command or a function as it is written in a test; None if that is impossible."""
    if part is None:
        return _Written("None")
    if isinstance(part, Command):
        return _Written(repr(list(part.words)))
    function = part.function if isinstance(part, Function) else None
    # A function within another one, and one of the main program, have no module that a test can import.
    if not isinstance(function, FunctionType) or function.__module__ == "__main__" or "." in function.__qualname__:
        return None
    return _Written(function.__name__, function.__module__)


def _in_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', "'")


def _arguments_of(options: Options) -> Iterator[tuple[str, str]]:
    """Yield the arguments of replay that have another value than their defaults."""
    setting, broker = options.setting, options.setting.broker
    default = Setting(topics=())
    values: Sequence[tuple[str, object, object]] = (
        ("topics", list(setting.topics), []),
        ("groups", list(setting.groups), []),
        ("processed", setting.is_processed, default.is_processed),
        ("event_id", setting.event_id, default.event_id),
        ("expect", options.promise.value, Promise.EXACTLY_ONCE.value),
        ("timeout_seconds", options.timeout_seconds, None),
        ("restarts", setting.restarts, default.restarts),
        ("config", dict(broker.entries), default_config(broker.nodes)),
        ("nodes", broker.nodes, default.broker.nodes),
        ("as_version", broker.as_version, default.broker.as_version),
        ("seed_topics", dict(setting.seed_topics), {}),
    )
    for name, value, usual in values:
        if value != usual:
            yield name, repr(value)
