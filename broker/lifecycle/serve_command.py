"""The serve command: reads the options, starts a broker, and serves until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ... import FauxkaError
from ...protocol.compiled_modules import is_compiled
from ...protocol.error_codes import KafkaError
from ...protocol.host_and_port import address_text
from ...storage.checkpoints.properties_file import read_properties_file
from .. import lifecycle
from ..config.broker_config import BrokerConfig
from ..config.config_keys import default_keys, keys_of_release
from ..config.config_sources import gather_config
from ..config.config_types import ConfigError
from ..config.environment_variables import own_variable_warnings
from ..metadata.replica_placement import with_replication_key
from ..network.listeners import DEFAULT_HOST
from ..runtime.event_loop import new_event_loop
from .cluster_builder import BuiltCluster, ClusterDescription, build_cluster, parse_version
from .cluster_reset import SeedTopic, create_seed_topics, parse_seed_topics
from .cluster_server import ClusterServer
from .listener_options import protocols_of, select_listeners
from .node_options import parse_nodes
from .ready_file import NodeAddress, ReadyFile, find_ready_file_problem, register_broker
from .security_options import parse_users
from .storage_options import StorageOptions

if TYPE_CHECKING:
    from pathlib import Path

    from ..cluster import Cluster
    from ..network.listeners import ListenerConfig
    from ..replica.disk_fault_injector import MakeFileFaults
    from .serve_hooks import ServeHooks

logger = logging.getLogger(__name__)

# New containers between two runs of the garbage collector. Requests create no reference cycles, so that Python's
# default of 700 would run it every hundred requests without a result. Every tenth run also looks at what survived the
# runs before, and every thousandth at everything: that takes 0.4 s while a request of 100,000 elements is handled.
GC_THRESHOLDS = (50_000, 10, 100)
# How long the event loop or a flush waits at most for a busy thread. Python's default of 5 ms is as long as the flush
# of a slow disk, and the first clients connect while a thread loads the admin API.
THREAD_SWITCH_SECONDS = 0.0005
# The key that --fsync sets: how many records are appended to a log before a flush. Records are acknowledged after it.
FLUSH_KEY = "log.flush.interval.messages"
FSYNC_NEVER = "never"
# How variables of Kafka's images end that name a file with secrets; the other one is KAFKA_OPTS.
_SECRET_FILES = ("STORE_FILENAME", "_CREDENTIALS")
ADVERTISED_VARIABLE = "KAFKA_ADVERTISED_LISTENERS"
# The words that tools wait for which start Kafka in a container, such as Testcontainers.
KAFKA_STARTED = "[KafkaServer id=%d] started: Kafka Server started, Transitioning from RECOVERY to RUNNING"
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StartupError(Exception):
    """The broker cannot start. The message is one line for the user."""


class ServeOptions(NamedTuple):
    """The options of the command line and the environment.

    nodes: the number of nodes. racks: of each node, "a,b,c"; None for broker.rack.
    port: None if not given; then the config keys of the listeners apply. It is the port of the first node.
    users: NAME:PASSWORD each.
    token_lifetime_ms: of the tokens of the admin API; None for the default.
    tls_dir: the folder of throw-away certificates; None for a new one where they are needed.
    needs_authority: whether the admin API has a throw-away certificate.
    advertised_file: wait for this file, and take advertised.listeners from it in place of the environment's.
    log_kafka_started: whether the log has Kafka's own line at the end of the start-up.
    variables: the environment variable of each option of the command line, None for an option without one.
    """

    environment: Mapping[str, str]
    config_file: str | None = None
    assignments: Sequence[str] = ()
    nodes: int = 1
    racks: str | None = None
    host: str = DEFAULT_HOST
    port: int | None = None
    listeners: Sequence[str] = ()
    users: Sequence[str] = ()
    token_lifetime_ms: int | None = None
    tls_dir: str | None = None
    needs_authority: bool = False
    advertised_file: str | None = None
    ready_file: str | None = None
    as_version: str | None = None
    seed_topics: Sequence[str] = ()
    cluster_id: str | None = None
    data_dir: str | None = None
    import_logs: Sequence[str] = ()
    fsync: str | None = None
    log_kafka_started: bool = False
    variables: Mapping[str, str | None] = MappingProxyType({})


class PreparedBroker(NamedTuple):
    """A cluster that is ready to start. notes: lines for the log. log_kafka_started: see ServeOptions."""

    built: BuiltCluster
    seed_topics: list[SeedTopic]
    notes: list[str]
    log_kafka_started: bool


def serve(options: ServeOptions, hooks: ServeHooks) -> None:
    """Serve until SIGTERM or SIGINT. Raises StartupError."""
    prepared = prepare(options, hooks.make_file_faults)
    ready_file = ReadyFile(options.ready_file) if options.ready_file else None
    # Imported modules live as long as the process; the garbage collector does not need to scan them.
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(serve_until_stopped(prepared, ready_file, hooks))
    finally:
        prepared.built.cluster.close()
    logger.info("stopped")


class DescribedBroker(NamedTuple):
    """What the options ask for. warnings, notes: lines for the log."""

    description: ClusterDescription
    seed_topics: list[SeedTopic]
    warnings: list[str]
    notes: list[str]


def prepare(options: ServeOptions, make_file_faults: MakeFileFaults | None) -> PreparedBroker:
    """Build the cluster, without listening yet, and log warnings on its configs. Raises StartupError."""
    described = describe(options, make_file_faults)
    built = _build(described.description)
    own_warnings = own_variable_warnings(options.environment, options.variables)
    for warning in (*described.warnings, *built.securities.warnings, *own_warnings):
        logger.warning("%s", warning)
    return PreparedBroker(built, described.seed_topics, described.notes, options.log_kafka_started)


def describe(options: ServeOptions, make_file_faults: MakeFileFaults | None) -> DescribedBroker:
    """Check the options and the environment, and create nothing. Raises StartupError."""
    if options.ready_file and (problem := find_ready_file_problem(options.ready_file)) is not None:
        raise StartupError(f"--ready-file: {problem}")
    try:
        nodes = parse_nodes(options.nodes, options.racks)
        file_entries = {} if options.config_file is None else read_properties_file(options.config_file)
        advertised = _read_advertised(options, nodes.node_count)
        environment = _with_secret_files(_environment(options, advertised))
        version = parse_version("--as-version", options.as_version)
        keys = default_keys() if version is None else keys_of_release(version.release)
        gathered = gather_config(file_entries, environment, options.assignments, keys)
        listeners = select_listeners(gathered.config, options.listeners, options.host, options.port)
        seed_topics = parse_seed_topics(options.seed_topics, gathered.config.num_partitions)
        description = ClusterDescription(
            config=_with_fsync(gathered.config, options),
            listeners=listeners,
            protocols=protocols_of(listeners, gathered.config),
            listener_entries=gathered.of_listeners,
            nodes=nodes,
            advertised=advertised[1:],
            users=parse_users(options.users),
            token_lifetime_ms=options.token_lifetime_ms,
            tls_dir=options.tls_dir,
            needs_authority=options.needs_authority,
            storage=StorageOptions(
                data_dir=options.data_dir, import_logs=options.import_logs, cluster_id=options.cluster_id or None
            ),
            emulated_version=version,
            file_faults=make_file_faults,
        )
    except FauxkaError as error:
        raise StartupError(str(error)) from error
    notes = [*gathered.notes, *_log_dirs_notes(gathered.config, options)]
    return DescribedBroker(description, seed_topics, gathered.warnings, notes)


def _build(description: ClusterDescription) -> BuiltCluster:
    try:
        return build_cluster(description)
    except FauxkaError as error:
        raise StartupError(str(error)) from error


def try_start(options: ServeOptions) -> BuiltCluster:
    """Return what `serve` would build, in memory. Raises StartupError where `serve` does before it listens.

    A data folder is checked without being opened, because that recovers its logs. The file of --advertised-file, which
    may not exist yet, is left out. The caller closes the cluster.
    """
    description = describe(options._replace(advertised_file=None), None).description
    storage = description.storage
    try:
        if storage.data_dir is not None:
            lifecycle.data_folder_check.check_data_folder(storage.data_dir, description.nodes.node_count)
    except FauxkaError as error:
        raise StartupError(str(error)) from error
    return _build(replace(description, storage=StorageOptions(cluster_id=storage.cluster_id)))


def _read_advertised(options: ServeOptions, count: int) -> list[str]:
    """Return the lines of --advertised-file, one for each of count nodes; none without it. Raises ConfigError."""
    if options.advertised_file is None:
        return []
    return lifecycle.advertised_file.wait_for_advertised_listeners(options.advertised_file, STOP_SIGNALS, count)


def _environment(options: ServeOptions, advertised: Sequence[str]) -> Mapping[str, str]:
    """Return the environment, with the advertised listeners of the first node if --advertised-file is given."""
    return {**options.environment, ADVERTISED_VARIABLE: advertised[0]} if advertised else options.environment


def _with_secret_files(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the secrets in files that variables of Kafka's images name. Raises ConfigError."""
    if not any(name == "KAFKA_OPTS" or name.endswith(_SECRET_FILES) for name in environment):
        return environment
    return lifecycle.secret_files.with_secret_files(environment)


def _with_fsync(config: BrokerConfig, options: ServeOptions) -> BrokerConfig:
    """Return config with the effect of --fsync. Raises ConfigError.

    -c takes precedence over --fsync. --fsync takes precedence over the file and the environment, because the Kafka
    images set the key to its default.
    """
    if options.fsync is None:
        return config
    if options.data_dir is None:
        raise ConfigError("--fsync needs --data-dir: without it nothing is stored on disk")
    if options.fsync == FSYNC_NEVER or any(text.startswith(f"{FLUSH_KEY}=") for text in options.assignments):
        return config
    return config.with_entries({FLUSH_KEY: "1"})


def _log_dirs_notes(config: BrokerConfig, options: ServeOptions) -> list[str]:
    """Return a note if log.dirs or log.dir is set, because nothing is written to that folder."""
    named = [key for key in ("log.dirs", "log.dir") if config.is_set(key)]
    if not named:
        return []
    stores = f"logs are stored in {options.data_dir}" if options.data_dir else "nothing is stored on disk"
    return [f"{' and '.join(named)}: accepted, and nothing is written there; {stores} (see --data-dir)"]


async def serve_until_stopped(prepared: PreparedBroker, ready_file: ReadyFile | None, hooks: ServeHooks) -> None:
    """Start the nodes and the admin API, wait for a signal, and stop both. Raises StartupError."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    # Process 1 of a container has no default action for these signals.
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, _stop_on_signal, number, stopping)
    cluster, listeners, tls_dir = prepared.built.cluster, prepared.built.listeners, prepared.built.securities.tls_dir
    hooks.bind({listener.port for of_node in listeners for listener in of_node}, tls_dir)
    server = hooks.make_server(cluster, listeners)
    _create_seed_topics(cluster, prepared.seed_topics)
    await _start_server(server, listeners)
    # Only now, because a failed start is one line.
    _log_notes(prepared.notes)
    try:
        _announce_listeners(server, tls_dir)
        if prepared.log_kafka_started:
            for node_id in server.node_ids:
                logger.info(KAFKA_STARTED, node_id)
        admin = await hooks.open(prepared.seed_topics)
        if admin is not None:
            print(admin, flush=True)
        if ready_file is not None:
            _write_ready_file(server, ready_file, admin, tls_dir)
        elif admin is not None:
            ready_file = register_broker(server.bootstrap_servers, os.getpid(), admin)
        await stopping.wait()
    finally:
        if ready_file is not None:
            ready_file.remove()
        await hooks.close()
        await server.stop()


def _create_seed_topics(cluster: Cluster, seed_topics: Sequence[SeedTopic]) -> None:
    """Create the seed topics. Raises StartupError."""
    try:
        create_seed_topics(cluster.controller, seed_topics)
    except KafkaError as error:
        reason = with_replication_key(error, cluster.image.configs.current)
        raise StartupError(f"--seed-topic: {reason}") from error


def _log_notes(notes: Sequence[str]) -> None:
    for note in notes:
        logger.info("%s", note)
    if not is_compiled():
        logger.info("running as plain Python; an installation with a C compiler serves producers faster")


async def _start_server(server: ClusterServer, listeners: Sequence[Sequence[ListenerConfig]]) -> None:
    try:
        await server.start()
    except OSError as error:
        addresses = ", ".join(
            f"{listener.name}://{address_text(listener.host, listener.port)}"
            for of_node in listeners
            for listener in of_node
        )
        raise StartupError(f"cannot listen on {addresses}: {error}") from error


def _announce_listeners(server: ClusterServer, tls_dir: Path | None) -> None:
    """Write the addresses of the listeners to standard output, and the folder of throw-away certificates.

    Those of the first node are written as those of an only node, for scripts that read the first line.
    """
    for of_node in server.servers:
        end = "" if of_node is server.servers[0] else f" node {of_node.node.node_id}"
        for listener in of_node.listeners:
            print(f"{listener.name}://{listener.address}{end}", flush=True)
    if tls_dir is not None:
        print(f"certificates: {tls_dir}", flush=True)


def _write_ready_file(server: ClusterServer, ready_file: ReadyFile, admin: str | None, tls_dir: Path | None) -> None:
    brokers = server.cluster.image.brokers
    nodes = [
        NodeAddress(broker.node_id, of_node.bootstrap_servers, broker.rack)
        for of_node, broker in zip(server.servers, brokers, strict=True)
    ]
    try:
        ready_file.write(server.bootstrap_servers, os.getpid(), admin=admin, nodes=nodes, tls_dir=tls_dir)
    except OSError as error:
        raise StartupError(f"cannot write the ready file: {error}") from error


def _stop_on_signal(number: signal.Signals, stopping: asyncio.Event) -> None:
    logger.info("received %s: stopping", number.name)
    stopping.set()
