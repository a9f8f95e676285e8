"""docs/admin-api.md has every operation, and every call in it is valid."""

import json
import re
from pathlib import Path

import pytest

from fauxka.admin.operation import Operation
from fauxka.admin.operations.all_operations import OPERATIONS
from fauxka.faults.strict_json import convert

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "admin-api.md"
# A call up to its end: a body may go on over several lines.
CALL = re.compile(r"curl (?P<flags>-s[^$\"]*)\"?\$A(?P<target>[^\s\"]*)\"?(?: --?[a-z-]+ '(?P<body>[^']*)')?")


class Shown:
    """A call in the page."""

    def __init__(self, found: re.Match[str]) -> None:
        self.path = found["target"].partition("?")[0]
        method = re.search(r"-X (\w+)", found["flags"])
        self.body = None if "G" in found["flags"] else found["body"]
        self.method = method[1] if method else "GET" if self.body is None else "POST"

    def is_of(self, operation: Operation) -> bool:
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(operation.path))
        return operation.method == self.method and re.fullmatch(pattern, self.path) is not None


SHOWN = [Shown(found) for found in CALL.finditer(PAGE.read_text())]


def operation_of(shown: Shown) -> Operation | None:
    """Return the operation; a path without parameters has precedence."""
    found = [operation for operation in OPERATIONS if shown.is_of(operation)]
    return min(found, key=lambda operation: "{" in operation.path, default=None)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_operation_is_documented(operation: Operation) -> None:
    assert [shown for shown in SHOWN if operation_of(shown) is operation] != []


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: f"{shown.method} {shown.path}")
def test_documented_call_is_an_operation_and_accepts_its_body(shown: Shown) -> None:
    operation = operation_of(shown)

    assert operation is not None
    assert operation.body_type is not None or shown.body is None
    if operation.body_type is not None and '"x"' not in (body := shown.body or "{}"):
        assert isinstance(operation.body_type, type)
        convert(json.loads(body), operation.body_type)
