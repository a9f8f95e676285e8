"""Cluster metadata: topics, their configs, features and replica assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import acl_control as acl_control
    from . import client_quotas_image as client_quotas_image
    from . import client_quotas_metadata as client_quotas_metadata
    from . import delegation_token_control as delegation_token_control
    from . import replication_control as replication_control
    from . import security_image as security_image
    from . import security_metadata as security_metadata
else:
    __getattr__ = part_loader(__name__)
