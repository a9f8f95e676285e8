"""Login probes: python -m tests.golden.regenerate login_probes. A case is one connection; see sasl_client for steps.

Behind each login stands who the client is: the principal of a delegation token that it creates, and the names whose
groups it may describe.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TextIO

from ..connection_cases import ConnectionCase, Step, metadata, write_lines
from ..sasl_client import Addresses
from . import delegation, exchanges, identities, messages, tokens
from .brokers import RULES
from .certificates import SUBJECTS, write_client
from .client import ProbeClient, who_am_i

PARALLEL_CASES = 12
CERTIFICATE = "certificate: "


def capture(addresses: Addresses, output: TextIO, seed: int = exchanges.SEED) -> None:
    """Run every case against a broker of brokers, and write a line of each to output."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{number}.pem" for number, name in enumerate(SUBJECTS)}
        for name, file in files.items():
            write_client(file, SUBJECTS[name])
        connect = partial(_connect, addresses, files)
        for together in case_groups(seed):
            write_lines(together, connect, output, PARALLEL_CASES)


def case_groups(seed: int = exchanges.SEED) -> list[list[ConnectionCase]]:
    """Return all cases, in groups that run one after the other. seed: of the exchanges.

    Kafka's broker applies no delegation token any more after one of a principal with half of a surrogate.
    """
    others = [identities.cases(), messages.cases(), tokens.cases(), _of_certificates(), exchanges.cases(seed)]
    return [delegation.cases(), [case for cases in others for case in cases]]


def _of_certificates() -> list[ConnectionCase]:
    steps: dict[str, Step] = {**{f"{CERTIFICATE}{name}": who_am_i for name in SUBJECTS}, "no certificate": who_am_i}
    return [
        *(ConnectionCase(name, listener, step) for name, step in steps.items() for listener in RULES),
        ConnectionCase("Metadata with a certificate", "NAMES", metadata),
    ]


def _connect(addresses: Addresses, files: dict[str, Path], case: ConnectionCase) -> ProbeClient:
    certificate = files.get(case.name.removeprefix(CERTIFICATE)) if case.name.startswith(CERTIFICATE) else None
    return ProbeClient(addresses, case.listener, certificate)
