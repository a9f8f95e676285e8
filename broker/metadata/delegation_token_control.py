"""Creates, renews, expires and removes delegation tokens (Kafka: DelegationTokenControlManager).

Source: DelegationTokenControlManager, Kafka 4.3.0; tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.kafka_uuid import new_uuid, uuid_text
from ..runtime.long_work import step
from ..security.delegation_token import DelegationToken, hmac_of

if TYPE_CHECKING:
    from ..config.broker_config import BrokerConfig
    from ..security.principal import Principal
    from .metadata_image import MetadataImage

logger = logging.getLogger(__name__)

INT64_MAX = 2**63 - 1


class DelegationTokenControl:
    """The delegation tokens of a cluster."""

    def __init__(self, image: MetadataImage, metadata_changed: Callable[[], None]) -> None:
        """metadata_changed: called after each change of the image."""
        self._image = image
        self._metadata_changed = metadata_changed

    def create(
        self,
        owner: Principal,
        requester: Principal,
        renewers: tuple[Principal, ...],
        max_lifetime_ms: int,
        now_ms: int,
    ) -> tuple[DelegationToken, bytes]:
        """Create a token, and return it with its HMAC.

        max_lifetime_ms: as requested; delegation.token.max.lifetime.ms is the maximum, and the default for less than 1.
        Raises KafkaError DELEGATION_TOKEN_AUTH_DISABLED.
        """
        secret_key, config = self._secret_key, self._config
        lifetime_ms = _limited(max_lifetime_ms, config.delegation_token_max_lifetime_ms)
        max_ms = _later(now_ms, lifetime_ms)
        expiry_ms = min(max_ms, _later(now_ms, config.delegation_token_expiry_time_ms))
        token_id = uuid_text(new_uuid())
        token = DelegationToken(token_id, owner, requester, renewers, now_ms, max_ms, expiry_ms)
        self._put(token)
        return token, hmac_of(secret_key, token_id)

    async def renew(self, hmac_: bytes, principal: Principal, period_ms: int, now_ms: int) -> int:
        """Renew the token of an HMAC, and return its new expiry in ms since the epoch.

        period_ms: as requested; delegation.token.expiry.time.ms is the maximum, and the default for less than 1.
        Raises KafkaError: DELEGATION_TOKEN_AUTH_DISABLED, NOT_FOUND, EXPIRED, OWNER_MISMATCH.
        """
        token = await self._token_of(hmac_)
        if token.is_expired(now_ms):
            raise _error(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        if not token.can_be_changed_by(principal):
            raise _error(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        return self._expire_later(token, now_ms, _limited(period_ms, self._config.delegation_token_expiry_time_ms))

    async def expire(self, hmac_: bytes, principal: Principal, period_ms: int, now_ms: int) -> int:
        """Set the expiry of the token of an HMAC, and return it in ms since the epoch. Raises KafkaError as renew.

        period_ms: from now on; less than 0 removes the token, also one that has expired.
        """
        token = await self._token_of(hmac_)
        if not token.can_be_changed_by(principal):
            raise _error(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        if period_ms < 0:
            self._remove(token)
            return now_ms
        if token.is_expired(now_ms):
            raise _error(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        return self._expire_later(token, now_ms, period_ms)

    def remove_expired(self, now_ms: int) -> list[str]:
        """Remove the tokens that have expired, and return their ids.

        Called every delegation.token.expiry.check.interval.ms.
        """
        expired = [each for each in self._image.security.tokens.values() if each.is_expired(now_ms)]
        for token in expired:
            logger.info("delegation token %s of %s has expired", token.token_id, token.owner)
            self._remove(token)
        return [token.token_id for token in expired]

    @property
    def _config(self) -> BrokerConfig:
        return self._image.configs.static

    @property
    def _secret_key(self) -> str:
        secret_key = self._config.delegation_token_secret_key
        if secret_key is None:
            raise _error(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        return secret_key

    async def _token_of(self, hmac_: bytes) -> DelegationToken:
        """Return the token of an HMAC. Raises KafkaError DELEGATION_TOKEN_AUTH_DISABLED and NOT_FOUND."""
        secret_key = self._secret_key
        for token_id in list(self._image.security.tokens):
            if hmac.compare_digest(hmac_, hmac_of(secret_key, token_id)):
                # Removed during an earlier step, it is not found.
                token = self._image.find_delegation_token(token_id)
                if token is not None:
                    return token
            await step()
        raise _error(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)

    def _expire_later(self, token: DelegationToken, now_ms: int, period_ms: int) -> int:
        expiry_ms = min(token.max_ms, _later(now_ms, period_ms))
        self._put(replace(token, expiry_ms=expiry_ms))
        return expiry_ms

    def _put(self, token: DelegationToken) -> None:
        self._image.security.tokens[token.token_id] = token
        self._metadata_changed()

    def _remove(self, token: DelegationToken) -> None:
        del self._image.security.tokens[token.token_id]
        self._metadata_changed()


def _limited(requested_ms: int, maximum_ms: int) -> int:
    return min(requested_ms, maximum_ms) if requested_ms > 0 else maximum_ms


def _later(now_ms: int, period_ms: int) -> int:
    return min(now_ms + period_ms, INT64_MAX)


def _error(code: ErrorCode) -> KafkaError:
    # The responses have no message.
    return KafkaError(code, code.name)
