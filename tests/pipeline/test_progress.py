"""The progress line of a running job."""

import io

from fauxka.pipeline.cluster.progress import LINE_SECONDS, Meter, StatusLine
from fauxka.pipeline.sessions.stage import Stage


def test_rows_of_ended_stages_count_and_the_time_is_of_the_slowest_stage() -> None:
    meter = Meter(100.0)

    first = meter.line([Stage(0, tasks=10, tasks_done=0, rows=0, bytes_shuffled=0)], 101.0)
    second = meter.line([Stage(0, 10, 4, 4_000, 1_000_000), Stage(1, 2, 1, 5, 0)], 105.0)
    third = meter.line([Stage(1, 2, 1, 1_000, 0)], 107.0)

    assert first == "1 s, stage 0: 0 of 10 tasks, 0 rows, 0.0 MB shuffled"
    assert second == "5 s, stage 0, 1: 5 of 12 tasks, 4,005 rows, 1.0 MB shuffled, about 6 s left of it"
    assert third == "7 s, stage 1: 1 of 2 tasks, 5,000 rows, 1.0 MB shuffled, about 2 s left of it"


def test_a_session_that_counts_no_rows_has_a_line_of_tasks() -> None:
    meter = Meter(100.0)

    line = meter.line([Stage(3, tasks=8, tasks_done=4)], 104.0)

    assert line == "4 s, stage 3: 4 of 8 tasks, about 0 s left of it"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_on_a_terminal_is_overwritten_and_cleared() -> None:
    terminal = Terminal()
    line = StatusLine(terminal)

    line.show("four", 0.0)
    line.show("one", 0.5)
    line.clear()

    assert terminal.getvalue() == "\rfour\rone \r   \r"


def test_a_file_gets_a_line_at_each_interval() -> None:
    file = io.StringIO()
    line = StatusLine(file)

    for number in range(5):
        line.show(str(number), number * LINE_SECONDS / 2)
    line.clear()

    assert file.getvalue() == "0\n2\n4\n"
