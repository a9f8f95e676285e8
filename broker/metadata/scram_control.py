"""Validates changes of SCRAM credentials, and makes credentials of salted passwords (Kafka: ScramControlManager).

Rules:
- A request alters each user once, in either of its lists and by either mechanism.
- The first error of a user is the user's only result; the other users are altered all the same.
- Credentials are made when all changes are validated: a user that is altered twice has no other error.
- A salted password is in no error message.
Source: ScramControlManager, Kafka 4.3.0; tests/golden/scram-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from ..security.sasl.scram import ScramCredential, ScramHash, credential_of_salted_password

if TYPE_CHECKING:
    from ...protocol.messages.alter_user_scram_credentials import ScramCredentialDeletion, ScramCredentialUpsertion

# What a credential belongs to: a mechanism and a user.
CredentialKey = tuple[ScramHash, str]

# ScramMechanism.minIterations, which is the same for both mechanisms.
ITERATIONS_MIN = 4096
# ScramControlManager.MAX_ITERATIONS.
ITERATIONS_MAX = 16384


class ScramChanges:
    """The changes of one AlterUserScramCredentials.

    deletions, upsertions: the valid ones by user. credentials: made of the upsertions. errors: those of users.
    """

    def __init__(self, existing: Collection[CredentialKey]) -> None:
        """existing: the credentials that can be deleted."""
        self.deletions: dict[str, CredentialKey] = {}
        self.upsertions: dict[str, tuple[CredentialKey, ScramCredentialUpsertion]] = {}
        self.credentials: dict[CredentialKey, ScramCredential] = {}
        self.errors: dict[str, KafkaError] = {}
        self._existing = existing

    def add_deletion(self, deletion: ScramCredentialDeletion) -> None:
        """Add a deletion, or the error of its user."""
        try:
            self._check_once(deletion.name)
            key = _key_of(deletion.name, deletion.mechanism)
            if key not in self._existing:
                raise KafkaError(
                    ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist"
                )
        except KafkaError as error:
            self.errors.setdefault(deletion.name, error)
        else:
            self.deletions[deletion.name] = key

    def add_upsertion(self, upsertion: ScramCredentialUpsertion) -> None:
        """Add an upsertion, or the error of its user."""
        try:
            self._check_once(upsertion.name)
            key = _key_of(upsertion.name, upsertion.mechanism)
            _check_iterations(upsertion.iterations)
        except KafkaError as error:
            self.errors.setdefault(upsertion.name, error)
        else:
            self.upsertions[upsertion.name] = (key, upsertion)

    def make_credential(self, user: str) -> None:
        """Make the credential of an upsertion. Call this after the last add_upsertion."""
        key, upsertion = self.upsertions[user]
        if upsertion.salted_password:
            self.credentials[key] = credential_of_salted_password(
                key[0], upsertion.salted_password, upsertion.salt, upsertion.iterations
            )
        else:
            # Java has no key of no bytes. Kafka returns this error without a message.
            self.errors[user] = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "")

    def _check_once(self, user: str) -> None:
        """Raise KafkaError DUPLICATE_RESOURCE for a user of an earlier change, which is then not made either."""
        is_there = user in self.errors or user in self.deletions or user in self.upsertions
        self.deletions.pop(user, None)
        self.upsertions.pop(user, None)
        if is_there:
            raise KafkaError(
                ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request"
            )


def _key_of(user: str, mechanism: int) -> CredentialKey:
    if not user:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in list(ScramHash):
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return ScramHash(mechanism), user


def _check_iterations(iterations: int) -> None:
    if iterations < ITERATIONS_MIN:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if iterations > ITERATIONS_MAX:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
