"""Runs the steps of a scenario that start, drive and end consumers and their applications."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from .brokers.scenario_broker import ScenarioBroker
from .clients.client import events_of
from .clients.consumer import ScenarioConsumer
from .report.notes import Notes
from .steps import (
    Batch,
    Commit,
    Consume,
    ConsumerStep,
    KillConsumer,
    Process,
    ReadError,
    StartConsumer,
    StopConsumer,
)


class ConsumerSteps:
    """The consumers of one run.

    consumers: by their names in the scenario. groups: of those that are in one. errors: of the steps read_error, by the
    name of the consumer.
    """

    def __init__(
        self,
        broker: ScenarioBroker,
        notes: Notes,
        topic: str,
        batches: dict[str, Batch],
        start: Callable[[str, str | None], ScenarioConsumer],
    ) -> None:
        """batches: of the scenario. start: starts the process of that name with a consumer in that group."""
        self.consumers: dict[str, ScenarioConsumer] = {}
        self.groups: dict[str, str] = {}
        self.errors: dict[str, list[str]] = {}
        self._broker = broker
        self._notes = notes
        self._topic = topic
        self._batches = batches
        self._start = start

    def run(self, step: ConsumerStep) -> None:
        """Run a step. Raises ClientStuck and BrokerFailed."""
        match step:
            case StartConsumer(by=by, group=group):
                self._start_consumer(by, group)
            case Consume(by=by, batches=names, commits=commits):
                self.consumers[by].read_until(set(self._events_of(names)))
                self._note(by, f"has read {', '.join(names)}")
                if commits:
                    self.consumers[by].commit()
            case Process(by=by, batches=names):
                self._broker.report_processed(self._topic, self.groups[by], self._events_of(names))
                self._note(by, f"processes {', '.join(names)}")
            case ReadError(by=by):
                error = self.consumers[by].read_error()
                self.errors.setdefault(by, []).append(error)
                self._note(by, f"gets {error}")
            case Commit() | StopConsumer() | KillConsumer():
                self._run_call(step, self.consumers[step.by])
            case _:
                assert_never(step)

    def _start_consumer(self, by: str, group: str | None) -> None:
        self._note(by, f"starts{'' if group is None else f' in group {group}'}")
        self.consumers[by] = self._start(by, group)
        if group is not None:
            self.groups[by] = group

    def _run_call(self, step: Commit | StopConsumer | KillConsumer, consumer: ScenarioConsumer) -> None:
        match step:
            case Commit(offset=offset):
                consumer.commit(offset)
            case StopConsumer(by=by):
                consumer.close()
                self._note(by, "ends")
            case KillConsumer(by=by):
                consumer.kill()
                self._note(by, "is killed")
            case _:
                assert_never(step)

    def close(self) -> None:
        """Close all consumers."""
        for consumer in self.consumers.values():
            consumer.close()

    def _events_of(self, names: Iterable[str]) -> list[str]:
        return [event for name in names for event in events_of(self._batches[name])]

    def _note(self, by: str, text: str) -> None:
        self._notes.add("client", text, by)
