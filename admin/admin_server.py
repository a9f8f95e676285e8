"""The admin API of `fauxka serve`: binds the port, starts the HTTP server after the node, and stops it.

Imported at every start-up, so the packages for HTTP are imported only when the API opens.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from .. import admin
from ..broker.config.config_types import ConfigError
from ..broker.lifecycle.cluster_server import ClusterServer
from ..broker.lifecycle.serve_command import StartupError
from ..faults.files.file_fault_injector import FileFaultInjector
from .admin_options import AdminOptions, BoundAddress, bind
from .fault_injection import FaultInjection

if TYPE_CHECKING:
    from pathlib import Path
    from ssl import SSLContext

    from ..broker.cluster import Cluster
    from ..broker.lifecycle.cluster_reset import SeedTopic
    from ..broker.network.listeners import ListenerConfig
    from ..faults.rules.fault_rules import FaultRule
    from .content_decoder import ContentDecoder
    from .http_server import HttpServer
    from .scenarios import Scenarios

logger = logging.getLogger(__name__)

HTTP_MODULES = (".http_server", ".application", ".control", ".operations.all_operations")


class AdminServer:
    """The admin API and the fault injection of one cluster: the ServeHooks of `fauxka serve`."""

    make_file_faults = FileFaultInjector

    def __init__(
        self,
        options: AdminOptions | None,
        make_scenarios: Callable[[], Scenarios] | None = None,
        initial_rules: Sequence[FaultRule] = (),
        content_decoder: ContentDecoder | None = None,
    ) -> None:
        """Create the server.

        options: None for no admin API. make_scenarios: imports and returns the scenarios. initial_rules: see
        FaultInjection. content_decoder: see Control.
        """
        self._options = options
        self._make_scenarios = make_scenarios
        self._initial_rules = initial_rules
        self._content_decoder = content_decoder
        self._fault_injection: FaultInjection | None = None
        self._address: BoundAddress | None = None
        self._server: HttpServer | None = None
        self._tls: SSLContext | None = None
        self._stopping = asyncio.Event()

    def make_server(self, cluster: Cluster, listeners: Sequence[Sequence[ListenerConfig]]) -> ClusterServer:
        """Return the server of the nodes, not started, with fault injection. listeners: of each node."""
        self._fault_injection = FaultInjection(cluster, listeners, self._initial_rules)
        return self._fault_injection.server

    def bind(self, kafka_ports: Collection[int], tls_dir: Path | None) -> None:
        """Bind the port of the admin API before the nodes listen. Raises StartupError.

        kafka_ports: those of the nodes. tls_dir: the folder of the throw-away certificates.
        """
        options = self._options
        if options is None:
            return
        self._tls, self._address = bind_admin_api(options, kafka_ports, tls_dir)
        if self._address.is_other_port:
            logger.warning("port %d is in use: the admin API is on %s", options.port, self._address.address)
        if options.is_open_to_others:
            text = "the admin API on %s:%d needs no token, and other machines can reach it: set --admin-token"
            logger.warning(text, options.host, self._address.port)

    async def open(self, seed_topics: Sequence[SeedTopic]) -> str | None:
        """Start the HTTP server and return its URL. The packages for HTTP are imported in a thread."""
        if self._options is None or self._address is None:
            return None
        await asyncio.to_thread(import_http)
        assert self._fault_injection is not None, "open is called after make_server"
        control = admin.control.Control(
            self._fault_injection,
            seed_topics=seed_topics,
            make_scenarios=self._make_scenarios,
            export_folder=admin.export_folder.ExportFolder(self._options.export_dir),
            content_decoder=self._content_decoder,
        )
        control.scheme = self._scheme
        application = admin.application.make_application(
            control,
            admin.operations.all_operations.OPERATIONS,
            token=self._options.token,
            stopping=self._stopping,
            allowed_hosts=self._options.allowed_hosts,
        )
        self._server = admin.http_server.HttpServer(application, self._address.bound, self._tls)
        await self._server.start()
        # As after the start-up: imported modules are never garbage.
        gc.freeze()
        return f"{self._scheme}://{self._address.address}"

    @property
    def _scheme(self) -> str:
        return "http" if self._tls is None else "https"

    async def close(self) -> None:
        """Stop the HTTP server, or close its socket."""
        self._stopping.set()
        if self._server is not None:
            await self._server.stop()
        elif self._address is not None:
            self._address.bound.close()


def bind_admin_api(
    options: AdminOptions, kafka_ports: Collection[int], tls_dir: Path | None
) -> tuple[SSLContext | None, BoundAddress]:
    """Return what HTTPS needs, None for HTTP, and a listening socket. Raises StartupError. See AdminServer.bind."""
    try:
        tls = None if options.tls is None else admin.admin_tls.admin_context(options.tls, options.host, tls_dir)
    except ConfigError as error:
        raise StartupError(str(error)) from error
    if options.is_port_asked and options.port and options.port in kafka_ports:
        raise StartupError(f"--admin-port: port {options.port} is the port of a Kafka listener")
    try:
        return tls, bind(options, kafka_ports)
    except OSError as error:
        where = f"{options.host}:{options.port}"
        raise StartupError(
            f"the admin API cannot listen on {where}: {error}; --admin-port off starts without it"
        ) from error


def import_http() -> None:
    """Import the packages for HTTP. They use no state of the broker, so any thread may call this."""
    for name in HTTP_MODULES:
        import_module(name, __package__)
