"""Writes golden files anew from a real Kafka: python -m tests.golden.regenerate [NAME ...], all without a name.

Each program gets a broker of its own, since it needs a fresh one; about ten seconds each, and minutes for those of
failover/.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ..reference.kafka_process import running_kafka, running_kafka_nodes
from . import capture_acls, capture_listener_settings, capture_nodes
from .acl_brokers import CONFIG_OF as ACL_BROKERS
from .acl_brokers import kafka_with_acls
from .acl_matrix.capture import regenerate_matrix
from .capture_recorder import Recorder
from .captures import CAPTURES, CONFIG_OF, golden_file, version_of
from .failover.scripts import SCRIPTS, capture_from_kafka
from .login_probes import capture as login_probes
from .login_probes.brokers import kafka_with_probes
from .replay import run_all_programs, write_cases
from .secured_captures import SECURED_CAPTURES

# The cases of programs/; the others are those of captures.py.
PROGRAMS_NAME = "golden"
NODE_COUNT = 3


def regenerate(name: str, target: Path) -> None:
    """Run the program of that name against a fresh Kafka and write its lines to target."""
    if name in WITH_OWN_BROKERS:
        WITH_OWN_BROKERS[name](target)
        return
    if name in SCRIPTS:
        capture_from_kafka(name, target)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(Path(folder) / "kafka.log", CONFIG_OF.get(name), version=version_of(name)) as bootstrap,
        target.open("w") as output,
    ):
        if name == PROGRAMS_NAME:
            write_cases(run_all_programs(bootstrap), output)
            return
        recorder = Recorder(bootstrap, output)
        CAPTURES[name](recorder)
        recorder.connection.close()


def regenerate_nodes(target: Path) -> None:
    """Run the program for several nodes against three fresh brokers and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka_nodes(Path(folder) / "nodes", NODE_COUNT) as bootstraps,
        target.open("w") as output,
    ):
        capture_nodes.capture(bootstraps, output)


def regenerate_secured(name: str, target: Path) -> None:
    """Run the program of that name against fresh brokers with SASL and write its lines to target."""
    with target.open("w") as output:
        SECURED_CAPTURES[name].from_kafka(output)


def regenerate_acls(target: Path) -> None:
    """Run the program for ACLs against a fresh broker of each kind and write its lines to target."""
    with tempfile.TemporaryDirectory() as folder, target.open("w") as output:
        for broker in ACL_BROKERS:
            with kafka_with_acls(Path(folder) / f"{broker}.log", broker) as addresses:
                capture_acls.capture(addresses, broker, output)


def regenerate_listener_settings(target: Path) -> None:
    """Start a broker with each of the settings and write its lines to target."""
    with target.open("w") as output:
        capture_listener_settings.capture(output)


def regenerate_login_probes(target: Path) -> None:
    """Run the login probes against a fresh broker and write their lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kafka_with_probes(Path(folder)) as addresses,
        target.open("w") as output,
    ):
        login_probes.capture(addresses, output)


# The programs that need other brokers than one with the default listeners.
WITH_OWN_BROKERS: Mapping[str, Callable[[Path], None]] = {
    "nodes": regenerate_nodes,
    "acls": regenerate_acls,
    "acl_matrix": regenerate_matrix,
    "listener_settings": regenerate_listener_settings,
    "login_probes": regenerate_login_probes,
    **{name: partial(regenerate_secured, name) for name in SECURED_CAPTURES},
}


def main() -> None:
    """Regenerate the files named on the command line."""
    known = [PROGRAMS_NAME, *WITH_OWN_BROKERS, *CAPTURES, *SCRIPTS]
    names = sys.argv[1:] or known
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise SystemExit(f"no golden file called {', '.join(unknown)}; there are {', '.join(known)}")
    for name in names:
        regenerate(name, golden_file(name))
        case_count = golden_file(name).read_bytes().count(b"\n")
        print(f"{golden_file(name).name}: {case_count} cases")


if __name__ == "__main__":
    main()
