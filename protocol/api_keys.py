"""The APIs and versions that a broker of Kafka advertises; ApiVersions responds with those of its release.

ApiKey also has the APIs that Kafka defines but a broker does not advertise: those between controllers, and client
telemetry, which needs a metrics reporter. Unreleased versions (InitProducerId 6) are left out.
Source: tests/golden/releases.jsonl, and ApiKeys of Kafka 4.3.0 for the first version of Produce.
"""

from itertools import chain

from .apis import cluster, groups, records, security, share, topics, transactions
from .apis.api import NEVER_FLEXIBLE, Api, ApiKey, Versions

__all__ = ["APIS", "BETWEEN_BROKERS", "NEVER_FLEXIBLE", "SUBJECTS", "Api", "ApiKey", "api_name_of"]

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
# APIs that are not served. Releases before 3.3, which have ZooKeeper here, advertise them to clients.
BETWEEN_BROKERS = {
    ApiKey.LEADER_AND_ISR: Versions(0, 6, 4, by_release="2.1 0-1, 2.2 0-2, 2.4 0-4, 2.8 0-5, 3.2 0-6, 3.3 none"),
    ApiKey.STOP_REPLICA: Versions(0, 3, 2, by_release="2.1 0-0, 2.2 0-1, 2.4 0-2, 2.6 0-3, 3.3 none"),
    ApiKey.UPDATE_METADATA: Versions(0, 7, 6, by_release="2.1 0-4, 2.2 0-5, 2.4 0-6, 2.8 0-7, 3.3 none"),
    ApiKey.CONTROLLED_SHUTDOWN: Versions(0, 3, 3, by_release="2.1 0-1, 2.2 0-2, 2.4 0-3, 3.3 none"),
    ApiKey.ALTER_PARTITION: Versions(0, 1, 0, by_release="2.7 0-0, 3.2 0-1, 3.3 none"),
    ApiKey.ALLOCATE_PRODUCER_IDS: Versions(0, 0, 0, by_release="3.0 0-0, 3.3 none"),
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
