"""AlterUserScramCredentials (51), version 0.

Source: ScramControlManager.alterCredentials, Kafka 4.3.0; tests/golden/scram-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import KafkaError
from ....protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from ...metadata.scram_control import ScramChanges
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each

_Response = AlterUserScramCredentialsResponse


async def handle(context: RequestContext, request: AlterUserScramCredentialsRequest) -> _Response:
    """Delete and set credentials; an error of one user does not affect the others."""
    controller = context.node.controller
    changes = ScramChanges(controller.image.security.credentials)
    await for_each(changes.add_deletion, request.deletions)
    await for_each(changes.add_upsertion, request.upsertions)
    await for_each(changes.make_credential, changes.upsertions)
    controller.alter_scram_credentials(changes.deletions.values(), changes.credentials)
    storage_error = await controller.saved()
    users = (*changes.deletions, *(user for _, user in changes.credentials))
    altered = [_result(user, storage_error) for user in users]
    return _Response(results=[*altered, *(_result(user, error) for user, error in changes.errors.items())])


def _result(user: str, error: KafkaError | None) -> AlterUserScramCredentialsResult:
    if error is None:
        return AlterUserScramCredentialsResult(user=user, error_message=None)
    return AlterUserScramCredentialsResult(user=user, error_code=error.code, error_message=error.message or None)
