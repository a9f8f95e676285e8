"""StreamsGroupHeartbeat (88), version 0: refused, as by a broker that does not serve the protocol of Kafka Streams."""

from __future__ import annotations

from ...requests.group_protocols import DisabledApi

HANDLER = DisabledApi()
