"""Log lines of the command."""

import fcntl
import io
import json
import logging
import os
import resource
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.runtime.log_output import JsonFormatter, level_of, set_up_logging


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


def test_line_is_a_json_object_without_a_terminal() -> None:
    stream = io.StringIO()
    set_up_logging(logging.INFO, stream)

    logging.getLogger("fauxka.x").info("served %d", 3)

    line = json.loads(stream.getvalue())
    assert line.keys() == {"time", "level", "logger", "message"}
    assert (line["level"], line["logger"], line["message"]) == ("info", "fauxka.x", "served 3")


@given(st.text(st.characters(categories=None)))
def test_any_text_is_read_back_from_its_json_line(text: str) -> None:
    line = JsonFormatter().format(logging.LogRecord("fauxka.x", logging.INFO, "", 0, "%s", (text,), None))

    assert json.loads(line)["message"] == text
    assert not {chr(code) for code in range(0x20)} & set(line)


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


def test_control_characters_of_a_message_are_escaped_on_a_terminal() -> None:
    stream = Terminal()
    set_up_logging(logging.INFO, stream)

    logging.getLogger("fauxka.x").warning("refused %s", "a\nb\x1b[2J\x9bc\x7f ü")

    assert stream.getvalue().endswith("WARNING refused a\\x0ab\\x1b[2J\\x9bc\\x7f ü\n")


def test_traceback_is_below_its_line_on_a_terminal() -> None:
    stream = Terminal()
    set_up_logging(logging.INFO, stream)

    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("fauxka.x").exception("went wrong")

    assert stream.getvalue().splitlines()[-1] == "ValueError: broken"


def test_records_below_the_level_are_left_out() -> None:
    stream = io.StringIO()
    set_up_logging(logging.WARNING, stream)

    logging.getLogger("fauxka.x").info("served")

    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("name", "level"), [("INFO", logging.INFO), ("warn", logging.WARNING), ("trace", logging.DEBUG)]
)
def test_levels_may_be_written_as_in_kafka(name: str, level: int) -> None:
    assert level_of(name) == level


def test_unread_pipe_does_not_block_logging() -> None:
    reader, writer = os.pipe()
    with open(writer, "w", encoding="utf-8") as stream, open(reader, "rb", buffering=0) as pipe:
        set_up_logging(logging.INFO, stream)
        logger = logging.getLogger("fauxka.x")

        for number in range(2_000):
            logger.info("line %d %s", number, "x" * 200)
        kept = pipe.read(1 << 20).splitlines()
        logger.info("read again")
        after = [json.loads(line)["message"] for line in pipe.read(1 << 20).splitlines()]

    assert 0 < len(kept) < 2_000
    assert after == [f"{2_000 - len(kept)} log lines left out: nobody read them", "read again"]


def test_line_longer_than_a_pipe_takes_at_once_is_whole() -> None:
    reader, writer = os.pipe()
    with open(writer, "w", encoding="utf-8") as stream, open(reader, "rb", buffering=0) as pipe:
        set_up_logging(logging.INFO, stream)

        logging.getLogger("fauxka.x").info("x" * 20_000)

        assert json.loads(pipe.read(1 << 20))["message"] == "x" * 20_000


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 1024, reason="at most 1,024 file descriptors")
def test_pipe_may_have_a_descriptor_that_select_does_not_take() -> None:
    reader, writer = os.pipe()
    high = fcntl.fcntl(writer, fcntl.F_DUPFD, 1024)
    os.close(writer)
    with open(high, "w", encoding="utf-8") as stream, open(reader, "rb", buffering=0) as pipe:
        set_up_logging(logging.INFO, stream)

        logging.getLogger("fauxka.x").info("written")

        assert json.loads(pipe.read(1 << 20))["message"] == "written"
