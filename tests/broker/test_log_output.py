"""Log lines of the command."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from fauxka.broker.log_output import level_of, set_up_logging


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_line_is_a_json_object_where_nobody_watches() -> None:
    stream = io.StringIO()
    set_up_logging(logging.INFO, stream)

    logging.getLogger("fauxka.x").info("served %d", 3)

    line = json.loads(stream.getvalue())
    assert line.keys() == {"time", "level", "logger", "message"}
    assert (line["level"], line["logger"], line["message"]) == ("info", "fauxka.x", "served 3")


def test_traceback_is_part_of_its_json_line() -> None:
    stream = io.StringIO()
    set_up_logging(logging.INFO, stream)

    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("fauxka.x").exception("went wrong")

    assert len(stream.getvalue().splitlines()) == 1
    assert "ValueError: broken" in json.loads(stream.getvalue())["exception"]


def test_line_is_plain_text_on_a_terminal() -> None:
    stream = Terminal()
    set_up_logging(logging.INFO, stream)

    logging.getLogger("fauxka.x").warning("slow")

    assert stream.getvalue().endswith("WARNING slow\n")


def test_what_is_below_the_level_is_left_out() -> None:
    stream = io.StringIO()
    set_up_logging(logging.WARNING, stream)

    logging.getLogger("fauxka.x").info("served")

    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("name", "level"), [("INFO", logging.INFO), ("warn", logging.WARNING), ("trace", logging.DEBUG)]
)
def test_levels_may_be_written_as_in_kafka(name: str, level: int) -> None:
    assert level_of(name) == level
