"""The generated modules are up to date, and --check reports it if they are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parent.parent.parent
GENERATE_SECONDS_MAX = 120


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "tools" / "generate_messages.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, timeout=GENERATE_SECONDS_MAX, check=False)


# `make check` makes the same check.
@pytest.mark.deep
def test_generated_modules_are_up_to_date() -> None:
    completed = check(ROOT)

    assert (completed.returncode, completed.stderr) == (0, "")


def test_check_names_changed_added_and_deleted_modules(tmp_path: Path) -> None:
    messages = tmp_path / "protocol" / "messages"
    shutil.copytree(ROOT / "tools" / "message_generator", tmp_path / "tools" / "message_generator")
    shutil.copy(ROOT / "tools" / "generate_messages.py", tmp_path / "tools")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "protocol" / "messages", messages)
    (messages / "heartbeat.py").write_text("# changed by hand\n")
    (messages / "added.py").write_text("# of no API\n")
    (messages / "metadata.py").unlink()

    completed = check(tmp_path)

    assert completed.returncode == 1
    assert [line.split()[0] for line in completed.stderr.splitlines()] == [
        "protocol/messages/added.py",
        "protocol/messages/heartbeat.py",
        "protocol/messages/metadata.py",
    ]
