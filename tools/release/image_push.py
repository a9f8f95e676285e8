"""The image of a release, built by docker buildx for both processors, started on each, and pushed with every tag."""

from __future__ import annotations

import time
from collections.abc import Mapping

from .builds import Source
from .image_start import check_in_docker
from .image_tags import image_tags
from .steps import run_step

PLATFORMS = ("linux/amd64", "linux/arm64")
# What is started. The pushed images have its layers, from the cache of the builder.
CHECKED = "fauxka-release-check"
# The other processor is emulated, and compiles.
PUSH_SECONDS_MAX = 5400


def build_arguments(source: Source, release: str) -> Mapping[str, str]:
    """Return the build arguments of the Dockerfile. release: the one of Kafka, "" for the newest."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(source.epoch))
    return {"VERSION": source.version, "REVISION": source.commit, "CREATED": created, "AS_VERSION": release}


def push_commands(source: Source, repository: str) -> list[list[str]]:
    """Return the commands that build and push the image: one for each AS_VERSION, which share all layers."""
    return [
        [
            *(
                "docker",
                "buildx",
                "build",
                "--push",
                "--platform",
                ",".join(PLATFORMS),
                "--sbom=true",
                "--provenance=mode=max",
            ),
            *_build_options(source, release),
            *(f"--tag={repository.lower()}:{tag}" for tag in tags),
            ".",
        ]
        for release, tags in image_tags(source.version).items()
    ]


def load_command(source: Source, platform: str) -> list[str]:
    """Return the command that builds the image of the newest release of Kafka for one processor, into Docker."""
    fixed = ("docker", "buildx", "build", "--load", "--platform", platform, f"--tag={CHECKED}")
    return [*fixed, *_build_options(source, ""), "."]


def _build_options(source: Source, release: str) -> list[str]:
    return [f"--build-arg={name}={value}" for name, value in build_arguments(source, release).items()]


def push_image(source: Source, repository: str) -> int:
    """Build the image, start it on each processor, and push it with every tag.

    repository: such as ghcr.io/OWNER/fauxka. Nothing is pushed if a check raises StepError. The tags of Kafka
    differ in a variable, which image_check.py tests.
    """
    newest = list(image_tags(source.version))[1]
    for platform in PLATFORMS:
        run_step(*load_command(source, platform), folder=source.folder, seconds_max=PUSH_SECONDS_MAX)
        check_in_docker(CHECKED, platform, source.version, newest)
    for command in push_commands(source, repository):
        run_step(*command, folder=source.folder, seconds_max=PUSH_SECONDS_MAX)
    return 0
