"""Every package that the product imports is declared in pyproject.toml; what builds the image is locked with hashes."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders of the product; the pipeline's Spark and the plugin's pytest are declared in groups.
PARTS = ("admin", "broker", "client", "faults", "pipeline", "protocol", "scenarios", "security", "storage", "testing")

# What a declared package brings as a part of itself.
BROUGHT_BY = {"py4j": "pyspark", "mypy-extensions": "mypy"}


def normalized(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0]).lower()


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    return {normalized(requirement) for each in lists for requirement in each if isinstance(requirement, str)}


def imported_by(file: Path) -> set[str]:
    imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"fauxka"}


def test_every_imported_package_is_declared() -> None:
    distributions = packages_distributions()
    files = [file for part in PARTS for file in (ROOT / part).rglob("*.py")]
    imported = {name for file in files for name in imported_by(file)}
    known = {name: {normalized(each) for each in distributions[name]} for name in imported if name in distributions}

    assert {name for name, packages in known.items() if not packages & (declared() | BROUGHT_BY.keys())} == set()
    assert "h11" in known


def test_image_is_built_from_locked_packages_only() -> None:
    steps = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    installing = [step for step in steps if re.search(r"pip\b.* (install|wheel) ", step)]
    locked = (ROOT / "requirements" / "build.txt").read_text()

    assert len(installing) == 3
    assert all("--require-hashes" in step or "--no-build-isolation" in step for step in installing)
    assert re.search(r"^setuptools==\S+ \\\n +--hash=", locked, re.MULTILINE)
    assert re.search(r"^mypy==\S+ \\\n +--hash=", locked, re.MULTILINE)
