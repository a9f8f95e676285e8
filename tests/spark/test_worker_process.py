"""The set-up of a worker process by a task."""

import gc
from collections.abc import Callable, Iterator

import pytest
from pyspark.sql.datasource import InputPartition

from fauxka.pipeline.decode.views import columns_of
from fauxka.pipeline.read.log_source import LogReader
from fauxka.pipeline.read.options import parse_options
from fauxka.pipeline.sessions.worker_process import task_of

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def nothing_is_spared() -> Iterator[None]:
    """Begin and end with a process without frozen objects."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def run_task_of_the_data_source() -> None:
    reader = LogReader(parse_options({"path": "/nowhere"}), columns_of("records"))
    assert not list(reader.read(InputPartition(None)))


def run_task_of_map_in_arrow() -> None:
    assert not list(task_of(lambda _: iter(()))([]))


TASKS = [run_task_of_the_data_source, run_task_of_map_in_arrow]


@pytest.mark.parametrize("run_task", TASKS)
def test_a_task_excludes_imported_objects_from_later_collections(run_task: Callable[[], None]) -> None:
    run_task()

    assert gc.get_freeze_count() > len(gc.get_objects())


@pytest.mark.parametrize("run_task", TASKS)
def test_garbage_of_a_task_is_collected(run_task: Callable[[], None]) -> None:
    run_task()
    left_behind: list[object] = [[] for _ in range(10_000)]

    run_task()

    looked_at = {id(one) for one in gc.get_objects()}
    assert all(id(one) in looked_at for one in left_behind)
