"""Who a client is: TLS, SASL and the users of the broker (Kafka: org.apache.kafka.common.security)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import listener_keys as listener_keys
    from . import listener_security as listener_security
    from . import users as users
else:
    __getattr__ = part_loader(__name__)
