"""What is common to requests of all APIs, between the dispatcher, which calls it, and the handlers, which use it.

- `request_context.py`: what a handler gets beside the request. `encoded_response.py`: what it may return.
- Before the handler: authorization, forwarding to the controller, disabled protocols. During it: quotas, permissions.
- `fault_ports.py`: the Protocols with which the broker calls the fault plan and the journal, which it does not import.
- Parts of two handlers that neither of them owns, such as the expiry of tokens, are here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import authorization as authorization
    from . import client_quotas as client_quotas
    from . import measured_fetch as measured_fetch
    from . import message_sets as message_sets
else:
    __getattr__ = part_loader(__name__)
