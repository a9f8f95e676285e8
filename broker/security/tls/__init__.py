"""TLS: key stores, throw-away certificates, and the names in the certificates of clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import certificate_authority as certificate_authority
    from . import listener_tls as listener_tls
    from . import principal_mapping as principal_mapping
    from . import throw_away_ca as throw_away_ca
else:
    __getattr__ = part_loader(__name__)
