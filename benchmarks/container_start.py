"""How long a container with fauxka takes until clients can connect, beside a container that does nothing.

Needs a container engine with Docker's API (DOCKER_HOST), the image, and the package testcontainers[kafka].
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from testcontainers.community.kafka import KafkaContainer
from testcontainers.core.container import DockerContainer

from fauxka.testcontainers import FauxkaContainer

from .measurement import Figures

BARE, FAUXKA, KAFKA_MODULE = "bare container", "FauxkaContainer", "KafkaContainer"
# What the engine alone may take, times this.
RATIO_MAX = 2.0


def main(image: str, round_count: int) -> dict[str, Figures]:
    """Start each container in turn, round_count times, and print the medians."""
    containers: dict[str, Callable[[], DockerContainer]] = {
        BARE: lambda: DockerContainer(image).with_command(["sh", "-c", "sleep 600"]),
        FAUXKA: lambda: FauxkaContainer(image),
        KAFKA_MODULE: lambda: KafkaContainer(image),
    }
    seconds: dict[str, list[float]] = {name: [] for name in containers}
    for _ in range(round_count):
        for name, make in containers.items():
            seconds[name].append(start_seconds(make()))
    results = {name: {"start ms": median(figures) * 1000} for name, figures in seconds.items()}
    bare = results[BARE]["start ms"]
    for name, figures in results.items():
        print(f"{name:16} {figures['start ms']:6.0f} ms  {figures['start ms'] / bare:.2f} x the bare container")
    verdict = "reached" if results[FAUXKA]["start ms"] <= RATIO_MAX * bare else "missed"
    print(f"goal: {FAUXKA} at most {RATIO_MAX:.0f} x the bare container: {verdict}")
    return results


def start_seconds(container: DockerContainer) -> float:
    """Return how long start() takes."""
    began = time.perf_counter()
    container.start()
    taken = time.perf_counter() - began
    container.stop()
    return taken
