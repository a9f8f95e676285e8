"""Check the scripts of the admin API's page: eslint, and the TypeScript compiler with checkJs.

    python tools/check_page.py

The packages are those of tests/page/javascript, installed into .venv/page_checks. It needs Node 20 and npm.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from fauxka.admin.page_sources import page_modules

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "tests" / "page" / "javascript"
FOLDER = ROOT / ".venv" / "page_checks"
INSTALL = ("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
LOCK = "package-lock.json"
LINT = ("node_modules/.bin/eslint", ".")
TYPES = ("node_modules/.bin/tsc", "--project", ".")


def main() -> int:
    """Check the scripts and return the exit code."""
    if shutil.which("npm") is None:
        print("the checks of the page need Node 20 and npm", file=sys.stderr)
        return 1
    write_project(FOLDER)
    install(FOLDER)
    return max([subprocess.run(check, cwd=FOLDER, check=False).returncode for check in (LINT, TYPES)])


def write_project(folder: Path) -> None:
    """Write the scripts of the page, with the one that is generated, and the project that checks and tests them."""
    for part in ("page", "tests"):
        shutil.rmtree(folder / part, ignore_errors=True)
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(LOCK, "node_modules"))
    (folder / "page").mkdir()
    for name, text in page_modules().items():
        (folder / "page" / name).write_text(text, "utf-8")


def install(folder: Path) -> None:
    """Install the locked packages, unless the folder has them."""
    wanted, installed = (PROJECT / LOCK).read_bytes(), folder / LOCK
    if installed.exists() and installed.read_bytes() == wanted and (folder / "node_modules").exists():
        return
    installed.write_bytes(wanted)
    subprocess.run(INSTALL, cwd=folder, check=True)


if __name__ == "__main__":
    sys.exit(main())
