"""The APIs and versions that a broker of Kafka advertises; ApiVersions responds with those of its release.

ApiKey also has the APIs that Kafka defines but a broker does not advertise: those between controllers, and client
telemetry, which needs a metrics reporter. Unreleased versions (InitProducerId 6) are left out.
Source: tests/golden/api_versions-4.3.0.json and api_versions-4.4.0.json, and ApiKeys of Kafka 4.3.0 for the first
version of Produce.
"""

from itertools import chain

from .apis import cluster, groups, records, security, share, topics, transactions
from .apis.api import NEVER_FLEXIBLE, Api, ApiKey

__all__ = ["APIS", "NEVER_FLEXIBLE", "SUBJECTS", "Api", "ApiKey", "api_name_of"]

# The APIs by subject, the folder of their handlers.
SUBJECTS = {
    "records": records.APIS,
    "topics": topics.APIS,
    "cluster": cluster.APIS,
    "groups": groups.APIS,
    "share": share.APIS,
    "security": security.APIS,
    "transactions": transactions.APIS,
}
APIS: dict[int, Api] = {api.key: api for api in sorted(chain.from_iterable(SUBJECTS.values()))}


def api_name_of(api_key: int) -> str:
    """Return Kafka's name of an API, served or not; "api key N" for a number that Kafka does not use."""
    api = APIS.get(api_key)
    if api is not None:
        return api.name
    try:
        return ApiKey(api_key).name.title().replace("_", "")
    except ValueError:
        return f"api key {api_key}"
