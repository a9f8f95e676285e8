"""The public surface of outputs and of the image: JSON, ready file, exit codes, variables, Dockerfile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import msgspec

from fauxka.broker.lifecycle.ready_file import NodeAddress, ReadyFile
from fauxka.pipeline.report.summary import Summary
from fauxka.scenarios.engine import Report
from fauxka.scenarios.spark.job_engine import JobReport

from .interfaces import ROOT, schema_entries
from .python_names import Entries

# A table of exit codes in a page, up to its end.
EXIT_CODES = re.compile(r"^\| exit code \| meaning \|\n(?P<rows>(?:^\|.*\n)+)", re.MULTILINE)
VARIABLE = re.compile(r"\bFAUXKA_[A-Z]+(?:_[A-Z]+)*\b")
INSTRUCTION = re.compile(r"^(EXPOSE|VOLUME|USER|HEALTHCHECK|ENTRYPOINT|CMD) (.*)$", re.MULTILINE)
NOT_WRITTEN = ("json Summary.commands", "json RunCommands")
SETTING = re.compile(r"\b((?:FAUXKA|KAFKA)_\w+)=(\S*)")


def json_entries() -> Entries:
    """Return each field of the JSON of audits, comparisons and scenarios, and of a ready file.

    Those of the admin API, which most commands print, are schemas of OpenAPI.
    """
    _, schemas = msgspec.json.schema_components([Summary, Report, JobReport], schema_hook=_any_json)
    entries: Entries = {}
    for name, schema in schemas.items():
        entries |= dict(schema_entries(f"json {name}", schema))
    # The file has a verdict beside the fields of a summary, and not its commands.
    entries["json of audit and compare"] = " ".join(Summary("", (), (), ()).as_json())
    written = {name: detail for name, detail in entries.items() if not name.startswith(NOT_WRITTEN)}
    return written | ready_file_entries()


def _any_json(_: type) -> dict[str, object]:
    """Return the schema of `object`. msgspec takes an empty one for none."""
    return {"description": "any JSON"}


def ready_file_entries() -> Entries:
    """Return each field of the ready file of a broker that has all of them."""
    nodes = [NodeAddress(node, "127.0.0.1:9092", "a") for node in (1, 2)]
    with TemporaryDirectory() as folder:
        file = Path(folder, "ready.json")
        ReadyFile(str(file)).write("127.0.0.1:9092", 1, admin="http://127.0.0.1:9099", nodes=nodes, tls_dir=folder)
        content = json.loads(file.read_text())
    return dict(_fields("ready file", content))


def _fields(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in cast("dict[str, object]", value).items():
            yield from _fields(f"{name}.{key}", each)
    elif isinstance(value, list):
        yield from _fields(f"{name}[]", cast("list[object]", value)[0])
    else:
        yield name, type(value).__name__


def exit_code_entries() -> Entries:
    """Return the exit codes that each page lists. The tests of the commands compare them with the code."""
    entries: Entries = {}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for table in EXIT_CODES.finditer(page.read_text()):
            entries[f"exit codes of {page.name}"] = " ".join(re.findall(r"^\| (\d+) \|", table["rows"], re.MULTILINE))
    return entries


def variable_entries() -> Entries:
    """Return each environment variable that the package or the image reads."""
    package = [path for part in (ROOT / "src" / "fauxka").iterdir() for path in _sources(part.resolve())]
    image = [path for path in (ROOT / "image").rglob("*") if path.is_file()]
    texts = [path.read_text() for path in [*package, *image]]
    return {f"variable {name}": "" for text in texts for name in VARIABLE.findall(text)}


def _sources(part: Path) -> list[Path]:
    return [part] if part.suffix == ".py" else list(part.rglob("*.py"))


def image_entries() -> Entries:
    """Return the ports, user, commands, health check and settings of the Dockerfile."""
    text = (ROOT / "Dockerfile").read_text()
    instructions = {f"image {name}": value for name, value in INSTRUCTION.findall(text)}
    settings = re.search(r"^ENV (?:.*\\\n)*.*$", text, re.MULTILINE)
    assert settings is not None, "the image has settings"
    return instructions | {f"image ENV {name}": value for name, value in SETTING.findall(settings[0])}
