"""Sockets: listeners, connections and the response queue of each connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import channel_mute as channel_mute
    from . import sasl_credentials as sasl_credentials
    from . import sasl_gate as sasl_gate
    from . import tls_handshake as tls_handshake
else:
    __getattr__ = part_loader(__name__)
