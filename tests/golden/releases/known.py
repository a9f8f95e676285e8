"""The cases of other releases in which fauxka is different, and a fauxka with their defaults."""

from dataclasses import dataclass

from fauxka.protocol.apis.api import Release
from fauxka.testing import Broker

ALWAYS: Release = (99, 0)
# As Kafka's brokers of the captures have.
_CONFIG = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}


@dataclass(frozen=True, slots=True)
class Different:
    """Cases of one program by the first words of their ids, in the releases from since until the one before until."""

    program: str
    names: str
    since: Release
    until: Release
    reason: str

    def covers(self, program: str, name: str, release: Release) -> bool:
        return program == self.program and name in self.names.split() and self.since <= release < self.until


KNOWN = (
    Different("exp_produce_validation", "V30", (3, 8), ALWAYS, "Kafka never answers null records; fauxka answers"),
    Different(
        "exp_transactions",
        "T46",
        (0, 0),
        (2, 8),
        "a marker without records of its producer is an aborted transaction there",
    ),
    Different(
        "exp_groups",
        "M13 S07 S10",
        (2, 3),
        (2, 4),
        "DescribeGroups has the assignment in place of the metadata there",
    ),
    Different(
        "exp_transactions",
        "O13",
        (0, 0),
        (2, 4),
        "Kafka applies committed offsets some milliseconds after the response, and fauxka before it",
    ),
)


def reason_for(program: str, case: str, release: Release) -> str | None:
    """Why this case may differ in this release; None where it has to be equal."""
    name = case.split(" ")[0]
    return next((entry.reason for entry in KNOWN if entry.covers(program, name, release)), None)


def broker_like(release: Release) -> Broker:
    """Return a broker that follows the release and has its defaults."""
    return Broker(as_version=f"{release[0]}.{release[1]}", config=_CONFIG)
