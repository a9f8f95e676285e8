"""tools/site copies what the documents link to, and makes the page of OpenAPI."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from fauxka import testing
from fauxka.admin.operations.all_operations import OPERATIONS
from tools.site.openapi_page import openapi_document, openapi_page
from tools.site.sources import ROOT, documents, write_sources


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "left.md").write_text("of an earlier build")
    write_sources(folder)
    return folder


def test_each_document_has_the_place_of_the_repository(sources: Path) -> None:
    copied = {path.relative_to(sources) for path in sources.rglob("*.md")}

    assert copied == {path.relative_to(ROOT) for path in documents()} | {Path("docs/openapi.md")}
    assert Path("docs/decisions/README.md") in copied


def test_files_that_a_document_shows_are_there(sources: Path) -> None:
    assert (sources / "docs" / "pictures" / "demo.svg").exists()
    assert (sources / "examples" / "compose.yaml").exists()


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()

    titles = {path.name: path.read_text().splitlines()[0][2:] for path in folder.glob("*.md")}
    assert [name for name, title in titles.items() if f"[{title}]({name})" not in index] == ["README.md"]


def test_every_operation_is_on_the_page_of_openapi() -> None:
    page, document = openapi_page(), json.loads(openapi_document())

    missing = [each for each in OPERATIONS if f"### `{each.method} {each.path}`\n" not in page]
    assert missing == []
    assert {each.path for each in OPERATIONS} == document["paths"].keys()


def test_reference_has_every_public_name_under_the_path_of_its_definition() -> None:
    page = (ROOT / "docs" / "python-reference.md").read_text()
    shown = [line.removeprefix("::: ").rpartition(".") for line in page.splitlines() if line.startswith("::: ")]

    assert set(testing.__all__) - {name for _, _, name in shown} == set()
    for module, _, name in shown:
        if name in testing.__all__:
            assert getattr(import_module(module), name) is getattr(testing, name)
