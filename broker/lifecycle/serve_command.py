"""A broker in the foreground: from what the user asked for to a process that serves until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...storage.producers.emulated_version import EmulatedVersion
from ..cluster import Cluster
from ..config.broker_config import BrokerConfig, ConfigError
from ..config.config_sources import gather_config
from ..network.listeners import DEFAULT_HOST, DEFAULT_PORT, ListenerConfig
from ..runtime.event_loop import new_event_loop
from .listener_options import check_listeners, listeners_of_keys, parse_listener
from .ready_file import ReadyFile
from .seed_topics import SeedTopic, create_seed_topics, parse_seed_topic
from .server import Server

if TYPE_CHECKING:
    from ..replica.disk_fault_injector import MakeFileFaults
    from .serve_hooks import ServeHooks

logger = logging.getLogger(__name__)

# New containers between two looks for cycles. What a request makes is freed by its reference counts, so that Python's
# own 700 would look every hundred requests and find nothing.
COLLECTED_EVERY = 50_000
# How long the event loop waits at most for a thread that cleans a log, or the thread of a flush that is done for the
# event loop. Python's own 5 ms are as long as a slow disk's flush (measured beside a busy thread: 5.3 ms and 0.7 ms).
THREAD_TURN_SECONDS = 0.0005
# What --fsync sets: after how many records a log is flushed before they are acknowledged.
FLUSH_KEY = "log.flush.interval.messages"
FSYNC_NEVER = "never"
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StartupError(Exception):
    """The broker cannot start as asked; the message is one line for the user."""


class ServeOptions(NamedTuple):
    """What the command line and the environment said.

    port: None where it was not given, so that the keys may say it.
    """

    environment: Mapping[str, str]
    config_file: str | None = None
    assignments: Sequence[str] = ()
    host: str = DEFAULT_HOST
    port: int | None = None
    listeners: Sequence[str] = ()
    ready_file: str | None = None
    as_version: str | None = None
    seed_topics: Sequence[str] = ()
    cluster_id: str | None = None
    data_dir: str | None = None
    import_logs: str | None = None
    fsync: str | None = None


class PreparedBroker(NamedTuple):
    """A node that is ready to be started, and what to log about how it was made."""

    cluster: Cluster
    listeners: list[ListenerConfig]
    seed_topics: list[SeedTopic]
    notes: list[str]


def serve(options: ServeOptions, hooks: ServeHooks) -> None:
    """Serve until SIGTERM or SIGINT. Raises StartupError where that cannot begin."""
    prepared = prepare(options, hooks.make_file_faults)
    for note in prepared.notes:
        logger.info("%s", note)
    ready_file = ReadyFile(options.ready_file) if options.ready_file else None
    # What was imported lives as long as the process: the collector need not look at it again.
    gc.freeze()
    gc.set_threshold(COLLECTED_EVERY)
    gc.enable()
    if prepared.cluster.node.replicas.is_on_disk:
        sys.setswitchinterval(THREAD_TURN_SECONDS)
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(serve_until_stopped(prepared, ready_file, hooks))
    finally:
        prepared.cluster.close()
    logger.info("stopped")


def prepare(options: ServeOptions, make_file_faults: MakeFileFaults | None) -> PreparedBroker:
    """Return the node that options describe; raises StartupError."""
    try:
        gathered = gather_config(read_properties(options.config_file), options.environment, options.assignments)
        listeners = listeners_of(options, gathered.config)
        check_listeners(listeners, gathered.config)
        seed_topics = [parse_seed_topic(text) for text in options.seed_topics]
        emulated_version = emulated_version_of(options.as_version)
        config = flushed_as_asked(gathered.config, options)
    except ConfigError as error:
        raise StartupError(str(error)) from error
    notes = [*gathered.notes, *notes_on_log_dirs(config, options)]
    if options.data_dir is None and options.import_logs is None:
        cluster = Cluster(config, emulated_version=emulated_version, file_faults=make_file_faults)
        cluster.image.cluster_id = options.cluster_id or cluster.image.cluster_id
    else:
        cluster = loaded_cluster(config, options, emulated_version, make_file_faults)
    return PreparedBroker(cluster, listeners, seed_topics, notes)


def loaded_cluster(
    config: BrokerConfig,
    options: ServeOptions,
    emulated_version: EmulatedVersion | None,
    make_file_faults: MakeFileFaults | None,
) -> Cluster:
    """Return the cluster that is in the folders of options; raises StartupError."""
    # Loaded only for these: a start in memory is to be short.
    from .cluster_loader import StorageOptions, load_cluster
    from .data_directory import DataDirectoryError

    storage = StorageOptions(
        data_dir=options.data_dir, import_logs=options.import_logs, cluster_id=options.cluster_id or None
    )
    try:
        return load_cluster(config, storage, emulated_version=emulated_version, file_faults=make_file_faults)
    except DataDirectoryError as error:
        raise StartupError(str(error)) from error


def flushed_as_asked(config: BrokerConfig, options: ServeOptions) -> BrokerConfig:
    """Return config with what --fsync says of flushing; raises ConfigError.

    It goes before the file and the environment, where Kafka's images have the key set to its default, and behind -c.
    """
    if options.fsync is None:
        return config
    if options.data_dir is None:
        raise ConfigError("--fsync needs --data-dir: without it everything is in memory, and nothing can be made safe")
    if options.fsync == FSYNC_NEVER or any(text.startswith(f"{FLUSH_KEY}=") for text in options.assignments):
        return config
    return config.with_entries({FLUSH_KEY: "1"})


def notes_on_log_dirs(config: BrokerConfig, options: ServeOptions) -> list[str]:
    """Return what to say where Kafka's own keys name a folder, which compose files for a real Kafka often do."""
    named = [key for key in ("log.dirs", "log.dir") if config.is_set(key)]
    if not named:
        return []
    stores = f"logs are stored in {options.data_dir}" if options.data_dir else "nothing is stored on disk"
    return [f"{' and '.join(named)}: accepted, and nothing is written there; {stores}, as --data-dir says"]


def read_properties(path: str | None) -> dict[str, str]:
    """Return the entries of a properties file, none where there is none; raises ConfigError."""
    if path is None:
        return {}
    # Loaded only where there is such a file: a start is to be short.
    from ...storage.checkpoints.properties_file import PROPERTIES_BYTES_MAX, PropertiesError, parse_properties

    try:
        with open(path, "rb") as file:
            content = file.read(PROPERTIES_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > PROPERTIES_BYTES_MAX:
        raise ConfigError(f"{path} has more than {PROPERTIES_BYTES_MAX} bytes; is it a properties file?")
    try:
        # Java reads properties files as Latin-1, in which every byte is a character.
        return parse_properties(content.decode("latin-1"))
    except PropertiesError as error:
        raise ConfigError(f"{path}: {error}") from error


def listeners_of(options: ServeOptions, config: BrokerConfig) -> list[ListenerConfig]:
    """Return where to listen: --listener, else --port, else Kafka's keys, else PLAINTEXT on the default port.

    Raises ConfigError.
    """
    if options.listeners and options.port is not None:
        raise ConfigError("--port and --listener exclude each other: write the port into the listener")
    if options.listeners:
        return [parse_listener(text) for text in options.listeners]
    by_keys = [] if options.port is not None else listeners_of_keys(config, options.host)
    port = DEFAULT_PORT if options.port is None else options.port
    return by_keys or [ListenerConfig("PLAINTEXT", options.host, port)]


def emulated_version_of(text: str | None) -> EmulatedVersion | None:
    """Return the version whose rules hold, None for the newest; raises ConfigError."""
    try:
        return None if text is None else EmulatedVersion.parse(text)
    except ValueError as error:
        raise ConfigError(f"--as-version: {error}") from error


async def serve_until_stopped(prepared: PreparedBroker, ready_file: ReadyFile | None, hooks: ServeHooks) -> None:
    """Start the node and what stands beside it, say so, wait for a signal, and stop them. Raises StartupError."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    # Installed by hand, as process 1 of a container has no default action for either.
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop_on, number, stopping)
    hooks.bind()
    server = hooks.make_server(prepared.cluster, prepared.listeners)
    create_seed_topics(prepared.cluster.controller, prepared.seed_topics)
    await start(server, prepared.listeners)
    try:
        announce(server)
        admin = await hooks.open(server, prepared.seed_topics)
        if admin is not None:
            announce_admin(admin)
        if ready_file is not None:
            write_ready_file(server, ready_file, admin)
        await stopping.wait()
    finally:
        if ready_file is not None:
            ready_file.remove()
        await hooks.close()
        await server.stop()


async def start(server: Server, listeners: Sequence[ListenerConfig]) -> None:
    """Bind the listeners; raises StartupError."""
    try:
        await server.start()
    except OSError as error:
        addresses = ", ".join(f"{listener.name}://{listener.host}:{listener.port}" for listener in listeners)
        raise StartupError(f"cannot listen on {addresses}: {error}") from error


def announce(server: Server) -> None:
    """Say where clients can connect, on standard output and in the log."""
    for listener in server.listeners:
        print(f"{listener.name}://{listener.address}", flush=True)
    # The second half is what those wait for who expect a Kafka container (testcontainers and others).
    logger.info(
        "serving %s; [KafkaServer id=%d] started: Kafka Server started, Transitioning from RECOVERY to RUNNING",
        server.bootstrap_servers,
        server.node.node_id,
    )


def announce_admin(address: str) -> None:
    """Say where the admin API is, on standard output and in the log."""
    print(f"http://{address}", flush=True)
    logger.info("admin API on http://%s", address)


def write_ready_file(server: Server, ready_file: ReadyFile, admin: str | None) -> None:
    """Say in the ready file that clients can connect; raises StartupError."""
    try:
        ready_file.write(server.bootstrap_servers, os.getpid(), admin=admin)
    except OSError as error:
        raise StartupError(f"cannot write the ready file: {error}") from error


def stop_on(number: signal.Signals, stopping: asyncio.Event) -> None:
    """Have the node stopped."""
    logger.info("received %s: stopping", number.name)
    stopping.set()
