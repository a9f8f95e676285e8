"""Kafka's tools print about streams groups on fauxka what they print on a real Kafka."""

import io
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ..golden.capture_streams_tools import GOLDEN, KAFKA_VERSION, SCENES, capture, capture_from_kafka
from ..golden.line_comparison import check_lines, lines_of
from ..golden.streams_tools.groups import CONFIG
from .java_program import JavaProgram

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def program() -> Iterator[JavaProgram]:
    runner = JavaProgram("ToolRunner", version=KAFKA_VERSION)
    yield runner
    runner.close()


def test_tools_print_on_fauxka_what_they_print_on_kafka(program: JavaProgram) -> None:
    output = io.StringIO()
    for scene in SCENES:
        with Broker({**CONFIG, "node.id": "1"}, as_version=KAFKA_VERSION) as broker:
            capture(scene, program, broker.bootstrap_servers, output)

    check_lines(lines_of(output.getvalue()), lines_of(GOLDEN.read_text()))


@pytest.mark.reference
def test_golden_file_equals_what_the_tools_print_today(program: JavaProgram) -> None:
    output = io.StringIO()
    capture_from_kafka(program, output)

    check_lines(lines_of(output.getvalue()), lines_of(GOLDEN.read_text()))
