"""The verdicts on all topics in short."""

from .producing import send
from .transports import Broker


def test_each_topic_has_the_number_of_its_findings_by_kind() -> None:
    with Broker() as broker:
        for topic in ("orders", "invoices"):
            broker.topics.create(topic, partitions=1)
        broker.faults.false_success(topic="orders")
        for topic in ("orders", "invoices"):
            send(broker.bootstrap_servers, topic, is_idempotent=False)

        in_short = [(each.topic, each.findings, each.kinds) for each in broker.verdicts()]

    assert in_short == [("invoices", 0, {}), ("orders", 1, {"acknowledged_lost": 1})]
