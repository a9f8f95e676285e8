"""The Java client as a producer of a scenario: a producer of ScenarioClients.java, one virtual machine for all."""

from typing import Any

from fauxka.scenarios.clients.client import (
    SETTLE_SECONDS_MAX,
    ClientOptions,
    ClientStuck,
    Delivery,
    events_of,
    headers_of,
    value_of,
)
from fauxka.scenarios.clients.login import OAUTHBEARER, SECURITY_PROTOCOL, Login
from fauxka.scenarios.steps import Batch

from ..clients.java_program import JavaProgram


class JavaProducer:
    """Drives Kafka's Java KafkaProducer."""

    is_pipelining = True
    batch_events_max: int | None = None

    def __init__(self, program: JavaProgram, options: ClientOptions) -> None:
        self.deliveries: list[Delivery] = []
        self._program = program
        self._options = options
        # The deliveries of the current producer, in the order of its responses.
        self._sent: list[Delivery] = []
        self._call(
            "open",
            bootstrap=options.bootstrap_servers,
            ca=options.ca,
            topic=options.topic,
            client_id=options.client_id,
            idempotent=str(options.is_idempotent).lower(),
            acks=options.acks,
            request_ms=str(options.request_ms),
            delivery_ms=str(options.delivery_ms),
            transactional_id=options.transactional_id,
            properties=login_properties(options.login),
        )

    def begin_transaction(self) -> None:
        self._call("begin_transaction")

    def end_transaction(self, *, commit: bool) -> str:
        error: str = self._call("end_transaction", commit=commit)
        return error

    def send(self, batch: Batch, partition: int) -> None:
        delivery = Delivery(batch.name, partition)
        self.deliveries.append(delivery)
        self._sent.append(delivery)
        events = [
            {"value": value_of(event).decode(), "headers": {key: (value or b"").decode() for key, value in headers}}
            for event in events_of(batch)
            for headers in [headers_of(batch, event)]
        ]
        self._call("send", batch=batch.name, partition=partition, events=events)

    def settle(self, *, retries: bool) -> None:
        if self._collect(int(SETTLE_SECONDS_MAX * 1000)):
            raise ClientStuck("the Java producer has batches without an answer")

    def give_up(self) -> None:
        self._collect(int(SETTLE_SECONDS_MAX * 1000))
        self._options.note("the producer's patience (delivery.timeout.ms) is over: the application gives up")

    def restart(self) -> None:
        self._sent = []
        self._options = self._options.restarted()
        self._call("restart", client_id=self._options.client_id)

    def close(self) -> None:
        self._call("close")

    def _collect(self, timeout_ms: int) -> bool:
        """Set the results of the deliveries; return whether some are pending."""
        answers = self._call("settle", timeout_ms=timeout_ms)
        for delivery, answer in zip(self._sent, answers, strict=True):
            if "silent" in answer:
                continue
            delivery.offset = None if "error" in answer else answer["offset"]
            delivery.error = answer.get("error", "NONE")
        return any("silent" in answer for answer in answers)

    def _call(self, name: str, **arguments: object) -> Any:
        return call_process(self._program, self._options.process, name, **arguments)


def login_properties(login: Login | None) -> dict[str, str]:
    """Return the properties of the Java client for a login."""
    if login is None:
        return {}
    common = {"security.protocol": SECURITY_PROTOCOL, "sasl.mechanism": login.mechanism}
    if login.mechanism != OAUTHBEARER:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return {**common, "sasl.jaas.config": f'{module} required username="{login.user}" password="{login.password}";'}
    package = "org.apache.kafka.common.security.oauthbearer"
    return {
        **common,
        "sasl.jaas.config": f"{package}.OAuthBearerLoginModule required;",
        "sasl.login.callback.handler.class": f"{package}.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": login.token_endpoint,
        "sasl.oauthbearer.client.credentials.client.id": login.user,
        "sasl.oauthbearer.client.credentials.client.secret": login.password,
    }


def call_process(program: JavaProgram, process: str, name: str, **arguments: object) -> Any:
    """Return the result of one call of a process. Raises ClientStuck."""
    answer = program.ask({"call": name, "process": process, **arguments})
    if "error" in answer:
        raise ClientStuck(answer["error"])
    return answer["result"]
