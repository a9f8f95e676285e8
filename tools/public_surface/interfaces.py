"""The public surface outside of Python: HTTP, the command line, pytest, and Spark."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import click

from fauxka import __main__ as command_line
from fauxka.admin.openapi import describe
from fauxka.admin.operations.all_operations import OPERATIONS
from fauxka.pipeline.decode.views import BATCH_COLUMNS, RECORD_COLUMNS
from fauxka.pipeline.read.options import OPTION_NAMES
from fauxka.pytest_plugin import MARKERS

from .python_names import Entries

ROOT = Path(__file__).resolve().parent.parent.parent
PLUGIN = ROOT / "pytest_plugin.py"
# Prose may change.
NOT_COMPARED = frozenset({"description", "title", "examples", "example", "summary"})
SCHEMA_REFERENCE = re.compile(r'\{"\$ref": ?"#/components/schemas/(\w+)"\}')

SHOWN_DEFAULT = re.compile(r"\[default: ([^\]]+)\]")

Json = Mapping[str, Any]


def http_entries() -> Entries:
    """Return each operation, parameter, body and response of the admin API, and each field of their schemas."""
    document: dict[str, Any] = json.loads(json.dumps(describe(OPERATIONS)))
    entries: Entries = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            entries |= dict(_operation_entries(f"{method.upper()} {path}", operation))
    for name, schema in document["components"]["schemas"].items():
        entries |= dict(schema_entries(f"schema {name}", schema))
    return entries


def _operation_entries(name: str, operation: Json) -> Iterator[tuple[str, str]]:
    yield name, " ".join(sorted(operation["responses"]))
    for parameter in operation.get("parameters", ()):
        required = "required " if parameter.get("required") else ""
        yield f"{name} {parameter['in']} {parameter['name']}", required + _text_of(parameter["schema"])
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"{name} body {kind}", _text_of(content.get("schema", {}))
    for status, response in operation["responses"].items():
        for kind, content in response.get("content", {}).items():
            if status.startswith("2"):
                yield f"{name} response {kind}", _text_of(content.get("schema", {}))


def schema_entries(name: str, schema: Json) -> Iterator[tuple[str, str]]:
    """Yield a schema and each of its fields."""
    properties: Json = schema.get("properties", {})
    yield name, _text_of({key: value for key, value in schema.items() if key not in ("properties", "required")})
    for field, kind in properties.items():
        required = "required " if field in schema.get("required", ()) else ""
        yield f"{name}.{field}", required + _text_of(kind)


def _text_of(schema: object) -> str:
    return SCHEMA_REFERENCE.sub(r"\1", json.dumps(_without_prose(schema), sort_keys=True))


def _without_prose(schema: object) -> object:
    if isinstance(schema, dict):
        fields = cast("dict[str, object]", schema)
        return {key: _without_prose(value) for key, value in fields.items() if key not in NOT_COMPARED}
    if isinstance(schema, list):
        return [_without_prose(value) for value in cast("list[object]", schema)]
    return schema


def command_entries() -> Entries:
    """Return each command, argument and option that help shows."""
    return dict(_command_entries("fauxka", command_line.commands))


def _command_entries(name: str, command: click.Command) -> Iterator[tuple[str, str]]:
    yield name, ""
    context = click.Context(command)
    for parameter in command.params:
        yield from _parameter_entries(name, parameter)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None, "a listed command exists"
            if not found.hidden:
                yield from _command_entries(f"{name} {each}", found)


def _parameter_entries(command: str, parameter: click.Parameter) -> Iterator[tuple[str, str]]:
    detail = [str(parameter.to_info_dict()["type"].get("name", "")).upper()]
    choices = getattr(parameter.type, "choices", None)
    if choices:
        detail.append("|".join(map(str, choices)))
    detail += [*_bounds_of(parameter.type), *(word for word, holds in _words_of(parameter).items() if holds)]
    detail += _default_of(parameter)
    if parameter.envvar:
        detail.append(f"variable {parameter.envvar}")
    if isinstance(parameter, click.Option):
        for name in [*parameter.opts, *parameter.secondary_opts]:
            yield f"{command} {name}", " ".join(detail)
    else:
        yield f"{command} [{parameter.human_readable_name}]", " ".join(detail)


def _bounds_of(kind: object) -> list[str]:
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return []
    least, most = ("" if bound is None else str(bound) for bound in (kind.min, kind.max))
    return [f"{least}..{most}"]


def _default_of(parameter: click.Parameter) -> list[str]:
    """Return the default: that of the help, which an option has whose default depends on others, or its value."""
    shown = SHOWN_DEFAULT.search(getattr(parameter, "help", None) or "")
    if shown is not None:
        return [f"default {shown[1]}"]
    value = parameter.to_info_dict().get("default")
    return [f"default {value}"] if isinstance(value, str | int | float) and value not in (False, "") else []


def _words_of(parameter: click.Parameter) -> dict[str, bool]:
    is_flag = isinstance(parameter, click.Option) and parameter.is_flag
    is_repeated = parameter.multiple or parameter.nargs == -1
    return {"required": parameter.required, "repeatable": is_repeated, "flag": is_flag}


def pytest_entries() -> Entries:
    """Return each fixture, option, ini option and mark of the pytest plugin."""
    entries = {f"mark {marker.partition('(')[0].partition(':')[0]}": marker.partition(":")[0] for marker in MARKERS}
    for node in ast.walk(ast.parse(PLUGIN.read_text())):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            entries |= dict(_fixture_entries(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            kind = {"addoption": "option", "addini": "ini option"}.get(node.func.attr)
            if kind is not None:
                entries[f"{kind} {ast.literal_eval(node.args[0])}"] = ""
    return entries


def _fixture_entries(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    for decorator in function.decorator_list:
        text = ast.unparse(decorator)
        if text.startswith("pytest.fixture") and function.returns is not None:
            scope = re.search(r"scope='(\w+)'", text)
            yield f"fixture {function.name}", f"{scope[1] if scope else 'function'} -> {ast.unparse(function.returns)}"


def spark_entries() -> Entries:
    """Return each option and column of the data source."""
    entries = {f"option {name}": "" for name in OPTION_NAMES}
    for view, columns in (("records", RECORD_COLUMNS), ("batches", BATCH_COLUMNS)):
        entries |= {f"column {view}.{column.name}": str(column.kind) for column in columns}
    return entries
