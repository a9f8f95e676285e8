"""docs/pipeline.md names every option and every column."""

import re
from pathlib import Path

from fauxka.pipeline.decode.views import BATCH_COLUMNS, RECORD_COLUMNS
from fauxka.pipeline.read.options import OPTION_NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "pipeline.md").read_text()
CODE = set(re.findall(r"`([^`\n]+)`", PAGE))


def test_the_page_names_every_option() -> None:
    table = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)

    assert table[: len(OPTION_NAMES)] == list(OPTION_NAMES)


def test_the_page_names_every_column() -> None:
    columns = {column.name for column in (*RECORD_COLUMNS, *BATCH_COLUMNS)}

    assert columns - CODE == set()
