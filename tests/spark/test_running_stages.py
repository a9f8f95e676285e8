"""The running stages of a session of Spark Connect, as its server reports them."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from fauxka.pipeline.cluster.running_stages import running_stages
from fauxka.pipeline.sessions import session_kind
from fauxka.pipeline.sessions.stage import Stage

pytestmark = pytest.mark.spark


class Reported:
    """pyspark.sql.connect.shell.progress.StageInfo."""

    def __init__(self, number: int, done: int) -> None:
        self.stage_id = number
        self.num_tasks = 4
        self.num_completed_tasks = done
        self.num_bytes_read = 0
        self.done = done == self.num_tasks


class ConnectSession:
    """What is used of a session of Spark Connect."""

    def __init__(self) -> None:
        self.handlers: list[Callable[..., None]] = []

    def registerProgressHandler(self, handler: Callable[..., None]) -> None:
        self.handlers.append(handler)

    def removeProgressHandler(self, handler: Callable[..., None]) -> None:
        self.handlers.remove(handler)

    def report(self, *stages: Reported, done: bool = False) -> None:
        for handler in self.handlers:
            handler(stages=stages, inflight_tasks=2, operation_id="1", done=done)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> ConnectSession:
    monkeypatch.setattr(ConnectSession, "__module__", "pyspark.sql.connect.session")
    return ConnectSession()


def test_stages_that_have_not_ended_are_running_until_the_query_ends(session: ConnectSession) -> None:
    with running_stages(cast(SparkSession, session)) as stages:
        before = stages()
        session.report(Reported(7, done=4), Reported(8, done=1))
        during = stages()
        session.report(Reported(8, done=4), done=True)

        assert (before, during, stages()) == ((), (Stage(8, 4, 1),), ())
    assert session.handlers == []


def test_a_session_that_fails_has_no_running_stages(session: ConnectSession, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def __init__(self, _: object) -> None:
            pass

        def __enter__(self) -> Callable[[], Any]:
            return self.fail

        def __exit__(self, *_: object) -> None:
            pass

        def stages(self) -> "Failing":
            return self

        def fail(self) -> None:
            raise PySparkException("the session has ended")

    monkeypatch.setattr(session_kind, "ConnectSession", Failing)

    with running_stages(cast(SparkSession, session)) as stages:
        assert stages() == []
