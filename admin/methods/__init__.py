"""The methods of the admin interface, for a broker in this process, in another one or in a container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import acls as acls
    from . import broker as broker
    from . import certificates as certificates
    from . import clock as clock
    from . import groups as groups
    from . import held as held
    from . import journal as journal
    from . import producers as producers
    from . import quotas as quotas
    from . import records as records
    from . import remote as remote
    from . import rules as rules
    from . import sessions as sessions
    from . import snapshots as snapshots
    from . import topics as topics
    from . import transactions as transactions
    from . import users as users
else:
    __getattr__ = part_loader(__name__)
