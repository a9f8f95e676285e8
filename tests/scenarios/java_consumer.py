"""The Java client as a consumer of a scenario: a consumer of ScenarioClients.java."""

from collections.abc import Collection

from fauxka.scenarios.clients.client import EVENT_HEADER, SETTLE_SECONDS_MAX, ClientStuck
from fauxka.scenarios.clients.consumer import ConsumerOptions

from ..clients.java_program import JavaProgram
from .java_producer import call_process, login_properties


class JavaConsumer:
    """Drives Kafka's Java KafkaConsumer. It continues after a truncation without an error: resets stays empty."""

    def __init__(self, program: JavaProgram, options: ConsumerOptions) -> None:
        """Start the consumer; it joins its group with the first poll."""
        self.events: list[str] = []
        self.resets: list[str] = []
        self._program = program
        self._options = options
        call_process(
            program,
            options.process,
            "open_consumer",
            bootstrap=options.bootstrap_servers,
            topic=options.topic,
            client_id=options.process,
            group=options.group,
            header=EVENT_HEADER,
            properties=login_properties(options.login),
        )

    def read_until(self, events: Collection[str]) -> None:
        timeout_ms = int(SETTLE_SECONDS_MAX * 1000)
        self.events += call_process(
            self._program, self._options.process, "read_until", events=list(events), timeout_ms=timeout_ms
        )
        if not set(events) <= set(self.events):
            raise ClientStuck(f"{self._options.process} reads nothing more")

    def commit(self, offset: int | None = None) -> None:
        call_process(self._program, self._options.process, "commit", offset=offset)

    def read_error(self) -> str:
        timeout_ms = int(SETTLE_SECONDS_MAX * 1000)
        error: str = call_process(self._program, self._options.process, "read_error", timeout_ms=timeout_ms)
        return error

    def kill(self) -> None:
        call_process(self._program, self._options.process, "kill")

    def close(self) -> None:
        call_process(self._program, self._options.process, "close")
