"""One engine for all tests with containers, and one image."""

from collections.abc import Iterator

import pytest
from testcontainers.core.config import ConnectionMode, testcontainers_config

from ..image.built_image import is_root, storage_folder
from .engine import UNEXPOSED, Engine, build_unexposed_image, running_engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    if not is_root():
        pytest.skip("needs root, for a container engine")
    with storage_folder("engine") as folder, running_engine(folder) as engine:
        yield engine


@pytest.fixture(scope="session")
def unexposed_image(engine: Engine) -> str:
    """The name of the image without EXPOSE."""
    build_unexposed_image(engine)
    return UNEXPOSED


@pytest.fixture
def of_engine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine, to which this process's own clients of Docker are led too."""
    for name, value in engine.environment.items():
        monkeypatch.setenv(name, value)
    # testcontainers has read these two of its variables when it was imported.
    monkeypatch.setattr(testcontainers_config, "connection_mode_override", ConnectionMode.docker_host)
    monkeypatch.setattr(testcontainers_config, "tc_host_override", engine.environment["TESTCONTAINERS_HOST_OVERRIDE"])
    return engine
