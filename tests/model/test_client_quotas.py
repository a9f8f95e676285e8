"""Which quota applies to a client, against a model, with any quotas."""

from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.metadata.client_quotas_image import (
    CLIENT_ID,
    PRODUCER_BYTE_RATE,
    USER,
    ClientQuotasImage,
    entity_of,
)

from .client_quotas_model import DEFAULT, Name, bound_of, tags_of

USERS = st.sampled_from(["alice", "bob"])
CLIENT_IDS = st.sampled_from(["app", "job"])
ENTITIES = st.tuples(st.none() | st.just(DEFAULT) | USERS, st.none() | st.just(DEFAULT) | CLIENT_IDS).filter(any)
QUOTAS = st.dictionaries(ENTITIES, st.integers(1, 1000).map(float))


def image_of(quotas: dict[tuple[Name, Name], float]) -> ClientQuotasImage:
    image = ClientQuotasImage()
    for names, bound in quotas.items():
        entity = {
            kind: None if name == DEFAULT else name
            for kind, name in zip((USER, CLIENT_ID), names, strict=True)
            if name is not None
        }
        image.set(entity_of(entity), PRODUCER_BYTE_RATE, bound)
    return image


@given(QUOTAS, USERS, st.just("") | CLIENT_IDS)
def test_client_has_the_quota_of_the_model_and_shares_it_with_the_same_clients(
    quotas: dict[tuple[Name, Name], float], user: str, client_id: str
) -> None:
    tags = tags_of(quotas, user, client_id)
    bound = bound_of(quotas, tags)

    found = image_of(quotas).find_for_client(PRODUCER_BYTE_RATE, user, client_id)

    shared = entity_of({kind: name for kind, name in zip((USER, CLIENT_ID), tags, strict=True) if name})
    assert found == (None if bound is None else (shared, bound))


@given(QUOTAS, USERS, CLIENT_IDS)
def test_quota_of_one_key_is_none_of_another(quotas: dict[tuple[Name, Name], float], user: str, client_id: str) -> None:
    assert image_of(quotas).find_for_client("consumer_byte_rate", user, client_id) is None
