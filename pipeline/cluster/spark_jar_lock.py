"""The four jars that pyspark needs for format("kafka") and does not contain: versions and SHA-256 by series.

pyspark/jars contains the other dependencies of the connector: lz4, snappy, zstd, slf4j, jsr305, hadoop-client.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Jar:
    """One artifact of a Maven repository."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The file name that Maven and the Ivy pattern of spark_jars.py use."""
        return f"{self.artifact}-{self.version}.jar"

    def is_in(self, folder: Path) -> bool:
        """Whether the folder contains this jar with this SHA-256."""
        path = folder / self.file_name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True)
class Lock:
    """The jars of one series of pyspark."""

    scala: str
    connector: Jar
    token_provider: Jar
    kafka_clients: Jar
    commons_pool: Jar

    @property
    def jars(self) -> list[Jar]:
        """All four jars."""
        return [self.connector, self.token_provider, self.kafka_clients, self.commons_pool]


def _lock(scala: str, versions: tuple[str, str, str, str], sums: tuple[str, str, str, str]) -> Lock:
    places = (
        ("org.apache.spark", f"spark-sql-kafka-0-10_{scala}"),
        ("org.apache.spark", f"spark-token-provider-kafka-0-10_{scala}"),
        ("org.apache.kafka", "kafka-clients"),
        ("org.apache.commons", "commons-pool2"),
    )
    connector, token_provider, kafka_clients, commons_pool = (
        Jar(group, artifact, version, sha256)
        for (group, artifact), version, sha256 in zip(places, versions, sums, strict=True)
    )
    return Lock(scala, connector, token_provider, kafka_clients, commons_pool)


# The connector 4.2.0 with the token provider 4.0.0 works with 4.1 to 4.3; tested with each.
SPARK_4_2 = _lock(
    "2.13",
    ("4.2.0", "4.0.0", "3.9.2", "2.13.1"),
    (
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
        "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
    ),
)
LOCKS = {
    "3.5": _lock(
        "2.12",
        ("3.5.7", "3.5.7", "3.4.1", "2.11.1"),
        (
            "184f8bd4a3cd22299c49090d88b894f81fd7546b4ee64879519a0d76a685dbb8",
            "9701914db5c6d09628b58d2d2c1ccd2c9ea28f32f83dd6cb21f98b8237531ff4",
            "9d0a9058c8ede79db6e54ae378ed16fe8d1bead2894635a4aa6aa0b7981668c6",
            "ea0505ee7515e58b1ac0e686e4d1a5d9f7d808e251a61bc371aa0595b9963f83",
        ),
    ),
    "4.0": _lock(
        "2.13",
        ("4.0.0", "4.0.0", "3.9.0", "2.12.0"),
        (
            "33a3b8b04df4a2e43c9d5bf8ca5972936a1ac662f2714e014d00ef6f27468bf3",
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
            "15c1e137f2c2c94398e27abc4060a03b6bde10bf9fac15e8f70c02320b202f18",
            "6d3bd18df8410f3e31b031aca582cc109342358a62a2759ebd0c4cdf30d06f8b",
        ),
    ),
    "4.1": SPARK_4_2,
    "4.2": SPARK_4_2,
    "4.3": SPARK_4_2,
}
