"""DescribeUserScramCredentials (50), version 0.

Source: ScramImage.describe, Kafka 4.3.0; tests/golden/scram-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from ...requests.request_context import RequestContext
from ...runtime.long_work import step
from ...security.sasl.scram import ScramCredential, ScramHash

_Credentials = Mapping[tuple[ScramHash, str], ScramCredential]


async def handle(
    context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Return mechanisms and iterations of the users, of all with a credential if the request names none."""
    credentials = dict(context.node.image.security.credentials)
    counts = Counter(each.name for each in request.users or ()) or dict.fromkeys((user for _, user in credentials), 1)
    results: list[DescribeUserScramCredentialsResult] = []
    for user, count in counts.items():
        results.append(_result(credentials, user, is_repeated=count > 1))
        await step()
    return DescribeUserScramCredentialsResponse(results=results)


def _result(credentials: _Credentials, user: str, *, is_repeated: bool) -> DescribeUserScramCredentialsResult:
    if is_repeated:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=ErrorCode.DUPLICATE_RESOURCE,
            error_message=(f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"),
        )
    found = {hash_: credentials[hash_, user] for hash_ in ScramHash if (hash_, user) in credentials}
    if not found:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {user}",
        )
    infos = [CredentialInfo(mechanism=hash_, iterations=each.iterations) for hash_, each in found.items()]
    return DescribeUserScramCredentialsResult(user=user, credential_infos=infos)
