"""ACLs and the authorizer that judges by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import standard_authorizer as standard_authorizer
else:
    __getattr__ = part_loader(__name__)
