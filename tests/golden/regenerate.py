"""Writes golden files anew from a real Kafka: python -m tests.golden.regenerate [NAME ...], all without a name.

Each program gets a broker of its own, since it needs a fresh one; about ten seconds each, and minutes for those of
failover/.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from ..reference.kafka_process import running_kafka, running_kafka_nodes
from . import capture_acls, capture_nodes, capture_oauth, capture_sasl, capture_sasl_ends, capture_scram
from .acl_brokers import CONFIG_OF as ACL_BROKERS
from .acl_brokers import kafka_with_acls
from .capture_recorder import Recorder
from .captures import CAPTURES, CONFIG_OF, golden_file
from .failover.scripts import SCRIPTS, capture_from_kafka
from .oauth_brokers import kafka_with_oauth
from .replay import run_all_programs, write_cases
from .sasl_brokers import kafka_with_sasl
from .scram_brokers import kafka_without_users

# The cases of programs/; the others are those of captures.py.
PROGRAMS_NAME = "golden"
# The program that needs several nodes.
NODES_NAME = "nodes"
NODE_COUNT = 3
# The program that needs listeners with SASL.
SASL_NAME = "sasl"
# The program about the ends of connections on these listeners.
SASL_ENDS_NAME = "sasl_ends"
# The program that needs listeners with OAUTHBEARER.
OAUTH_NAME = "oauth"
# The program that needs brokers with an authorizer.
ACLS_NAME = "acls"
# The program that needs a broker without users.
SCRAM_NAME = "scram"


def regenerate(name: str, target: Path) -> None:
    """Run the program of that name against a fresh Kafka and write its lines to target."""
    special = _OF_OWN_BROKERS.get(name)
    if special is not None:
        special(target)
        return
    if name in SCRIPTS:
        capture_from_kafka(name, target)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(Path(folder) / "kafka.log", CONFIG_OF.get(name)) as bootstrap,
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


def regenerate_sasl(target: Path) -> None:
    """Run the program for SASL against a fresh broker and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kafka_with_sasl(Path(folder) / "kafka.log") as addresses,
        target.open("w") as output,
    ):
        capture_sasl.capture(addresses, output)


def regenerate_sasl_ends(target: Path) -> None:
    """Run the program for the ends of connections against a fresh broker and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kafka_with_sasl(Path(folder) / "kafka.log", capture_sasl_ends.CONFIG) as addresses,
        target.open("w") as output,
    ):
        capture_sasl_ends.capture(addresses, output)


def regenerate_oauth(target: Path) -> None:
    """Run the program for OAUTHBEARER against a fresh broker and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kafka_with_oauth(Path(folder)) as addresses,
        target.open("w") as output,
    ):
        capture_oauth.capture(addresses, output)


def regenerate_acls(target: Path) -> None:
    """Run the program for ACLs against a fresh broker of each kind and write its lines to target."""
    with tempfile.TemporaryDirectory() as folder, target.open("w") as output:
        for broker in ACL_BROKERS:
            with kafka_with_acls(Path(folder) / f"{broker}.log", broker) as addresses:
                capture_acls.capture(addresses, broker, output)


def regenerate_scram(target: Path) -> None:
    """Run the program for SCRAM credentials against a fresh broker and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kafka_without_users(Path(folder) / "kafka.log") as addresses,
        target.open("w") as output,
    ):
        capture_scram.capture(addresses, output)


# The programs that start their brokers themselves.
_OF_OWN_BROKERS: Mapping[str, Callable[[Path], None]] = {
    NODES_NAME: regenerate_nodes,
    SASL_NAME: regenerate_sasl,
    SASL_ENDS_NAME: regenerate_sasl_ends,
    OAUTH_NAME: regenerate_oauth,
    ACLS_NAME: regenerate_acls,
    SCRAM_NAME: regenerate_scram,
}


def main() -> None:
    """Regenerate the files named on the command line."""
    known = [PROGRAMS_NAME, *_OF_OWN_BROKERS, *CAPTURES, *SCRIPTS]
    names = sys.argv[1:] or known
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise SystemExit(f"no golden file called {', '.join(unknown)}; there are {', '.join(known)}")
    for name in names:
        regenerate(name, golden_file(name))
        print(f"{golden_file(name).name}: {len(golden_file(name).read_text().splitlines())} cases")


if __name__ == "__main__":
    main()
