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

NOT_YET = (
    Different(
        "exp_init_producer_id",
        """
            I11 I12 I13 I14 I15 I16 I17 I18 I19 I20 I21 I22 I23 I24 I25 I26 I27 I28 I29 I30 I31 I40 I41 I42
            I43 I44 I45 I46 I47
        """,
        "there is no transaction coordinator yet: a transactional id is answered with UNSUPPORTED_VERSION",
    ),
    Different(
        "exp_transactions",
        """
            T01 T02 T03 T04 T05 T06 T07 T08 T09 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T20 T21 T22 T23 T24
            T25 T26 T27 T28 T29 T30 T31 T32 T33 T34 T35 T36 T37 T40 T41 T42 T43 T44 T45 T46 T47 T48 T49 T50
            T60 T61 T62 T63 T64 T65 T66 T67 T68 T69 T70 T71 T51 T52 L01 L02 L03 L04 L05 L06 L07 L08 O01 O02
            O03 O04 O05 O06 O07 O08 O09 O09a O09b O09c O09d O09e O10 O11 O12 O13 O14 O15 U01 U02 U03 U04
            U05 U06 U07 U08 U09 U10 U11 U12 U13 U14 U15 U16 U17 U18 U19 U20 U21 U22 U23 U24 U25 U26 U27 U28
            U29 U30 U31 U32 U33 U34 U35 U36 U40 U41 U42 U43 U50 U51 U52 U53 U54 U55 U60 U61 U62 D01 D02 D03
            D04 D05 D06 D08 W01 W02 W03 W04 W05 W06 W07 W08 W09 W10 W11 W12 W13
        """,
        "there is no transaction coordinator yet, and so no producer with a transactional id to start with",
    ),
)
ALL = ON_PURPOSE + NOT_YET


def reason_for(program: str, case: str) -> str | None:
    """Why this case may differ; None where it has to be equal."""
    return next((entry.reason for entry in ALL if entry.covers(program, case)), None)
