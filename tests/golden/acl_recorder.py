"""Runs the cases of capture_acls against one broker, and makes a line of each.

A case has ACLs, which a super user creates before and deletes after it, and steps: a set-up by the super user, and
requests of users. Topics, groups and the like have a name of their own in each case, the case's prefix and the name
that the case calls them; a line has it without the prefix.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fauxka.protocol.messages import (
    create_acls,
    delete_acls,
    describe_acls,
    init_producer_id,
)

from .acl_brokers import STRICT
from .acl_scene import SHARE_PARTITION, AclNormalForm, Scene
from .acls import EVERY_ACL, Acl, Acls, acls_of, creating_acls, deleting_acls
from .capture_normal_form import Json
from .consumer_group_recorder import ConsumerGroupRecorder
from .failover.coordinator_requests import (
    GROUP_KEY,
    SHARE_KEY,
    TRANSACTION_KEY,
    initialising,
)
from .sasl_client import Addresses

ACLS_SECONDS_MAX = 30.0
POLL_SECONDS = 0.005


@dataclass(frozen=True)
class AclCase:
    """One case. broker: the one of acl_brokers that it is for."""

    name: str
    acls: Acls
    steps: Callable[[Scene], None]
    broker: str = STRICT


def each(title: str, steps: Callable[[Scene], None], acls: Mapping[str, Acls], broker: str = STRICT) -> list[AclCase]:
    """Return a case for each set of ACLs, all with the same steps."""
    return [AclCase(f"{title}: {name}", entries, steps, broker) for name, entries in acls.items()]


class AclCapture:
    """Runs cases against one broker."""

    def __init__(self, addresses: Addresses) -> None:
        """Connect as the super user, and wait for the coordinators. addresses: of the listeners of acl_brokers."""
        self._address = addresses["SASL_PLAINTEXT"]
        self.admin = ConsumerGroupRecorder(addresses["PLAINTEXT"], io.StringIO())
        for key_type, key in ((GROUP_KEY, "any"), (TRANSACTION_KEY, "any"), (SHARE_KEY, SHARE_PARTITION)):
            self.admin.expect_coordinator(key_type, key)
        self.admin.expect_loaded()
        self.admin.expect_that(self._gives_producer_ids, "a transaction coordinator that is ready")
        self.admin.settle()

    def run(self, number: int, case: AclCase) -> Json:
        """Return the line of a case. number: no other case of this broker has it."""
        prefix = f"c{number:03}."
        self.admin.normal_form = AclNormalForm(self._address, prefix)
        acls = tuple(acl.in_names_of(prefix) for acl in case.acls)
        scene = Scene(self.admin, self._address, prefix)
        try:
            self.create_acls(acls)
            case.steps(scene)
        finally:
            scene.close()
            self.clear_acls()
        return {
            "case": case.name,
            "broker": case.broker,
            "acls": [
                [acl.resource_type, acl.name, acl.pattern, acl.principal, acl.host, acl.operation, acl.permission]
                for acl in case.acls
            ],
            "set_up": scene.set_up,
            "steps": scene.steps,
        }

    def close(self) -> None:
        """Close the connection."""
        self.admin.connection.close()

    def _gives_producer_ids(self) -> bool:
        response = self.admin.call(initialising("any"), 4, init_producer_id.InitProducerIdResponse)
        return response.error_code == 0

    def create_acls(self, acls: Acls) -> None:
        """Create the ACLs, and return when the broker has applied them."""
        if acls:
            response = self.admin.call(creating_acls(*acls), 3, create_acls.CreateAclsResponse)
            assert not any(result.error_code for result in response.results), response
        self._expect(acls)

    def clear_acls(self) -> None:
        """Delete every ACL, and return when the broker has none."""
        response = self.admin.call(deleting_acls(EVERY_ACL), 3, delete_acls.DeleteAclsResponse)
        assert response.filter_results[0].error_code == 0, response
        self._expect(())

    def _expect(self, acls: Acls) -> None:
        """Wait until the broker has applied exactly these ACLs, which the controller applies first."""
        deadline = time.monotonic() + ACLS_SECONDS_MAX
        while self._acls() != set(acls):
            assert time.monotonic() < deadline, f"{self._acls()} in place of {acls}"
            time.sleep(POLL_SECONDS)

    def _acls(self) -> set[Acl]:
        response = self.admin.call(EVERY_ACL.describing(), 3, describe_acls.DescribeAclsResponse)
        assert response.error_code == 0, response
        return acls_of(response)
