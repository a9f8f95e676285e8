"""The output of `fauxka doctor`: what this machine has, and what to do about each missing part, a line each.

A finding fails only if it keeps `fauxka serve`, without options and with this environment, from running. The options
and the addresses are checked as `serve` does it. Everything else is needed by some commands.
"""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import metadata

from ..admin.admin_options import AdminOptions
from ..admin.admin_server import bind_admin_api
from ..broker.lifecycle.cluster_builder import BuiltCluster
from ..broker.lifecycle.serve_command import ServeOptions, StartupError, try_start
from ..broker.network.bound_sockets import bind
from ..broker.network.listeners import ListenerConfig
from ..protocol.compiled_modules import is_compiled
from ..protocol.host_and_port import address_text
from .clients.clients import CLIENTS, INSTALL
from .spark.installation import INSTALL as INSTALL_SPARK
from .spark.installation import find_java

OLDEST_PYTHON = (3, 11)
# Of Spark 4.
OLDEST_JAVA = 17
JAVA_SECONDS_MAX = 20
CONTAINER_ENGINES = ("docker", "podman")
ENGINE_SECONDS_MAX = 20
# What each extra is for, by a package that it brings. The clients have a line each.
EXTRAS: Mapping[str, tuple[str, str]] = {
    "security": ("trustme", "TLS with certificates made on the spot"),
    "schemas": ("fastavro", "event ids in Avro and Protobuf"),
    "testcontainers": ("testcontainers", "a broker in a container, in Python"),
}


class Level(Enum):
    """What a finding means for `fauxka serve`."""

    FITS = "ok"
    MISSING = "note"
    FAILS = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. advice: what to do, "" if nothing."""

    level: Level
    text: str
    advice: str = ""

    @property
    def line(self) -> str:
        """The finding as a line of text."""
        return f"{self.level.value:6}{self.text}" + (f"; {self.advice}" if self.advice else "")


# Returns what `fauxka serve` without options would run with. Raises StartupError for a wrong variable.
ReadOptions = Callable[[], tuple[ServeOptions, AdminOptions | None]]


def doctor_text(environment: Mapping[str, str], read_options: ReadOptions) -> tuple[str, bool]:
    """Return the lines, and whether `fauxka serve` can run with this environment."""
    findings = [*_of_python(), *_of_serve(read_options), *_of_clients(), *_of_spark(environment), *_of_extras()]
    findings.append(_container_engine(environment))
    can_serve = not any(finding.level is Level.FAILS for finding in findings)
    last = "fauxka serve can run." if can_serve else "fauxka serve cannot run."
    return "\n".join([*(finding.line for finding in findings), "", last]), can_serve


def _of_python() -> Iterator[Finding]:
    version = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()}"
    if sys.version_info < OLDEST_PYTHON:
        yield Finding(Level.FAILS, version, "install Python 3.11 or newer")
    else:
        yield Finding(Level.FITS, version)
    if is_compiled():
        yield Finding(Level.FITS, "compiled modules")
    else:
        advice = "a C compiler and pip install --force-reinstall --no-binary fauxka fauxka add them"
        yield Finding(Level.MISSING, "no compiled modules, plain Python is slower", advice)
    if (found := _version_of("uvloop")) is not None:
        yield Finding(Level.FITS, f"uvloop {found}")
    else:
        advice = "there is none for Windows" if os.name == "nt" else "pip install uvloop"
        yield Finding(Level.MISSING, "no uvloop, the event loop of asyncio is slower", advice)


def _of_serve(read_options: ReadOptions) -> Iterator[Finding]:
    try:
        options, admin_options = read_options()
        built = try_start(options)
    except StartupError as error:
        yield Finding(Level.FAILS, str(error))
        return
    try:
        yield from map(_of_listener, [listener for of_node in built.listeners for listener in of_node])
        if admin_options is not None:
            yield _of_admin_api(admin_options, built)
    finally:
        built.cluster.close()


def _of_listener(listener: ListenerConfig) -> Finding:
    try:
        for bound in asyncio.run(bind(listener.host, listener.port)):
            bound.close()
    except OSError as error:
        return Finding(Level.FAILS, error.strerror or str(error), _advice_on_address(error))
    return Finding(Level.FITS, f"port of the broker, {address_text(listener.host, listener.port)}, is free")


def _advice_on_address(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "stop the process that has it, or take a free one: fauxka serve --port 0"
    if error.errno == errno.EACCES:
        return "take a port above 1023: fauxka serve --port 0"
    return "set a host of this machine"


def _of_admin_api(options: AdminOptions, built: BuiltCluster) -> Finding:
    kafka_ports = {listener.port for of_node in built.listeners for listener in of_node}
    try:
        _, address = bind_admin_api(options, kafka_ports, built.securities.tls_dir)
    except StartupError as error:
        return Finding(Level.FAILS, str(error))
    address.bound.close()
    where = f"port of the admin API, {address_text(options.host, options.port)},"
    if address.is_other_port:
        return Finding(Level.MISSING, f"{where} is in use", "fauxka serve takes another one and prints it")
    return Finding(Level.FITS, f"{where} is free")


def _of_clients() -> Iterator[Finding]:
    for name, client in CLIENTS.items():
        if client.package is None:
            continue
        if (found := _version_of(client.package)) is None:
            yield Finding(Level.MISSING, f"no {client.package}, for scenarios with --client {name}", INSTALL)
        else:
            yield Finding(Level.FITS, f"{client.package} {found}")


def _of_spark(environment: Mapping[str, str]) -> Iterator[Finding]:
    if (found := _version_of("pyspark")) is None:
        yield Finding(Level.MISSING, "no pyspark, for fauxka audit and dedup", INSTALL_SPARK)
    else:
        yield Finding(Level.FITS, f"pyspark {found}")
    needed = f"Spark needs {OLDEST_JAVA} or newer"
    java = find_java(environment)
    if java is None:
        yield Finding(Level.MISSING, f"no Java, and {needed}", "install it, or set JAVA_HOME")
        return
    release = _release_of_java(java)
    if release is None:
        yield Finding(Level.MISSING, f"{java} -version names no release, and {needed}", "set JAVA_HOME to another one")
    elif release < OLDEST_JAVA:
        yield Finding(Level.MISSING, f"Java {release}, and {needed}", "install it, or set JAVA_HOME")
    else:
        yield Finding(Level.FITS, f"Java {release}")


def _release_of_java(java: str) -> int | None:
    """Return the release that `java -version` prints, such as 17; None if it prints none. 1.8 is 8."""
    try:
        ended = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=JAVA_SECONDS_MAX)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', ended.stderr + ended.stdout)
    return None if found is None else int(found[1])


def _of_extras() -> Iterator[Finding]:
    for extra, (package, purpose) in EXTRAS.items():
        if (found := _version_of(package)) is None:
            yield Finding(Level.MISSING, f"no {package}, for {purpose}", f"pip install 'fauxka[{extra}]'")
        else:
            yield Finding(Level.FITS, f"{package} {found}")


def _container_engine(environment: Mapping[str, str]) -> Finding:
    silent: list[str] = []
    for engine in CONTAINER_ENGINES:
        program = shutil.which(engine, path=environment.get("PATH"))
        if program is not None and _responds(program):
            return Finding(Level.FITS, engine)
        if program is not None:
            silent.append(engine)
    if silent:
        advice = f"find out why: {silent[0]} info"
        return Finding(Level.MISSING, f"{' and '.join(silent)}: installed, without a response", advice)
    return Finding(Level.MISSING, "no docker or podman, for the image", "install one of them")


def _responds(engine: str) -> bool:
    """Return whether the service of a container engine responds. The program alone starts no container."""
    try:
        ended = subprocess.run([engine, "info"], capture_output=True, timeout=ENGINE_SECONDS_MAX, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
