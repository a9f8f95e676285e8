"""The cases in which fauxka does not answer as Kafka does, each by name and with its reason.

A case here that comes to be equal makes its test fail, so that this list stays true. A name is the first word of a
case's id, which stands for all cases of its program that begin with it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Different:
    """Some cases of one program, and why they are not equal."""

    program: str
    names: str
    reason: str

    def covers(self, program: str, case: str) -> bool:
        return program == self.program and case.split(" ")[0] in self.names.split()


ON_PURPOSE = (
    Different(
        "exp_produce_validation",
        "V30",
        "Kafka never answers null records; fauxka answers INVALID_RECORD for that partition",
    ),
)

NOT_YET: tuple[Different, ...] = ()

ALL = ON_PURPOSE + NOT_YET


def reason_for(program: str, case: str) -> str | None:
    """Why this case may differ; None where it has to be equal."""
    return next((entry.reason for entry in ALL if entry.covers(program, case)), None)
