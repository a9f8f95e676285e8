"""StreamsGroupDescribe (89), version 0: refused, because the broker does not serve streams groups."""

from __future__ import annotations

from ...requests.group_protocols import refusal

handle = refusal
