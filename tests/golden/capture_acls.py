"""ACLs: python -m tests.golden.regenerate acls. The cases are those of acl_scenes; see acl_recorder for their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from .acl_recorder import AclCapture, AclCase
from .acl_scenes import CASES
from .sasl_client import Addresses


def cases_of(broker: str) -> Iterator[tuple[int, AclCase]]:
    """Return the cases for one of the brokers of acl_brokers, each with its number."""
    return ((number, case) for number, case in enumerate(CASES, 1) if case.broker == broker)


def capture(addresses: Addresses, broker: str, output: TextIO) -> None:
    """Run every case for that broker, and write a line of each to output. addresses: of its listeners."""
    run = AclCapture(addresses)
    for number, case in cases_of(broker):
        output.write(json.dumps(run.run(number, case), ensure_ascii=False) + "\n")
    run.close()
