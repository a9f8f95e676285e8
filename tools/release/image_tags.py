"""The tags of the image, and the release of Kafka that each follows.

The build argument AS_VERSION is the value of FAUXKA_AS_VERSION in the image's environment. Nothing else differs between
the tags, so that their images share every layer.
"""

from __future__ import annotations

from collections.abc import Iterable

from fauxka.broker.config.config_since import RELEASES
from fauxka.protocol.apis.api import Release

from .steps import StepError

# The first release with an image apache/kafka. Older ones are `-e FAUXKA_AS_VERSION=2.8`.
OLDEST_TAG: Release = (3, 7)


def image_tags(version: str, releases: Iterable[Release] = RELEASES) -> dict[str, list[str]]:
    """Return the tags by AS_VERSION: those of fauxka below "", and one for each release of Kafka from OLDEST_TAG on.

    Raises StepError for a version of fauxka whose tag is one of Kafka's releases: it would be two images.
    """
    minor = version.rpartition(".")[0]
    of_kafka = [f"{release[0]}.{release[1]}" for release in sorted(releases, reverse=True) if release >= OLDEST_TAG]
    if minor in of_kafka:
        raise StepError(f"the tag {minor} of fauxka {version} is a release of Kafka; allowed: another minor version")
    return {"": [version, minor, "latest"], **{release: [release] for release in of_kafka}}
