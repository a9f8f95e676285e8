"""SASL: the mechanisms, and the authentication of a connection (Kafka: SaslServerAuthenticator)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import oauthbearer as oauthbearer
    from . import sasl_session as sasl_session
else:
    __getattr__ = part_loader(__name__)
