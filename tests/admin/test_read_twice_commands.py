"""The commands and calls of docs/read-twice.md are accepted by a broker."""

from __future__ import annotations

import re
import shlex
from functools import reduce
from pathlib import Path

import pytest

from fauxka.testing import RemoteBroker

from ..serving_process import Serving, run
from .admin_client import AdminClient

pytestmark = pytest.mark.processes

PAGE = (Path(__file__).parents[2] / "docs" / "read-twice.md").read_text()
RULES = re.findall(r"fauxka (fault add [^`#\n]+)", PAGE)


@pytest.mark.parametrize("command", RULES)
def test_rule_of_the_page_is_added(broker: Serving, admin: AdminClient, command: str) -> None:
    admin.post("/v1/reset", {"scope": "all"})

    ended = run(*shlex.split(command), "--ready-file", str(broker.ready_file))

    assert (ended.exit_code, ended.log) == (0, "")
    assert len(admin.get("/v1/rules")["items"]) == 1


def test_methods_of_the_page_exist(broker: Serving) -> None:
    assert broker.admin is not None
    remote = RemoteBroker(broker.admin)
    names = set(re.findall(r"`broker\.([a-z_.]+)\(", PAGE))

    assert len(names) >= 3
    assert all(callable(reduce(getattr, name.split("."), remote)) for name in names)
