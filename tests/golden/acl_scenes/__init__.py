"""The cases of capture_acls by subject."""

from ..acl_recorder import AclCase
from . import judging, producing

# ListGroups is about all groups of a broker: its cases come first.
CASES: list[AclCase] = [
    *judging.CASES,
    *producing.CASES,
]
