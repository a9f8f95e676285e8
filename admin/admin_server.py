"""The admin API of a broker on the command line: from options to a door that is open, and closed again.

Loaded with every start, so it imports nothing that a broker without an admin API would not need.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ..broker.lifecycle.serve_command import StartupError
from ..broker.lifecycle.server import Server
from ..faults.files.file_fault_injector import FileFaultInjector
from .admin_options import AdminOptions, BoundAddress, bind
from .fault_injection import FaultInjection

if TYPE_CHECKING:
    from ..broker.cluster import Cluster
    from ..broker.lifecycle.seed_topics import SeedTopic
    from ..broker.network.listeners import ListenerConfig
    from ..broker.replica.disk_fault_injector import MakeFileFaults
    from .http_server import HttpServer
    from .scenarios import Scenarios

logger = logging.getLogger(__name__)

HTTP_MODULES = (".http_server", ".application", ".control", ".operations.all_operations")


class AdminServer:
    """See broker.lifecycle.serve_hooks.ServeHooks."""

    def __init__(self, options: AdminOptions | None, make_scenarios: Callable[[], Scenarios] | None = None) -> None:
        """Prepare.

        options: where to listen; None for nowhere. make_scenarios: imports what runs scenarios, and returns it.
        """
        self._options = options
        self._make_scenarios = make_scenarios
        self._fault_injection: FaultInjection | None = None
        self._address: BoundAddress | None = None
        self._server: HttpServer | None = None
        self._stopping = asyncio.Event()

    @property
    def make_file_faults(self) -> MakeFileFaults | None:
        """See ServeHooks."""
        return FileFaultInjector

    def make_server(self, cluster: Cluster, listeners: Sequence[ListenerConfig]) -> Server:
        """See ServeHooks."""
        self._fault_injection = FaultInjection(cluster)
        return self._fault_injection.make_server(cluster, listeners)

    def bind(self) -> None:
        """See ServeHooks."""
        options = self._options
        if options is None:
            return
        try:
            self._address = bind(options)
        except OSError as error:
            where = f"{options.host}:{options.port}"
            raise StartupError(
                f"the admin API cannot listen on {where}: {error}; --admin-port off goes without"
            ) from error
        if self._address.is_other_port:
            logger.warning("port %d is taken: the admin API is on %s", options.port, self._address.address)
        if options.is_open_to_others:
            said = "the admin API on %s:%d is open to everybody who can reach it: --admin-token asks for a token"
            logger.warning(said, options.host, self._address.port)

    async def open(self, server: Server, seed_topics: Sequence[SeedTopic]) -> str | None:
        """See ServeHooks; what HTTP needs is imported here, while the node answers already."""
        if self._options is None or self._address is None:
            return None
        await asyncio.to_thread(import_http)
        from .application import make_application
        from .control import Control
        from .http_server import HttpServer
        from .operations.all_operations import OPERATIONS

        assert self._fault_injection is not None, "a door without a server"
        control = Control(server, self._fault_injection, seed_topics=seed_topics, make_scenarios=self._make_scenarios)
        application = make_application(control, OPERATIONS, token=self._options.token, stopping=self._stopping)
        self._server = HttpServer(application, self._address.bound)
        await self._server.start()
        # As with all that was imported before.
        gc.freeze()
        return self._address.address

    async def close(self) -> None:
        """See ServeHooks."""
        self._stopping.set()
        if self._server is not None:
            await self._server.stop()
        elif self._address is not None:
            self._address.bound.close()


def import_http() -> None:
    """Import what HTTP needs; it takes long, and uses nothing of the broker."""
    for name in HTTP_MODULES:
        import_module(name, __package__)
