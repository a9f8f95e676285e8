"""URIs of object stores: scheme, bucket, path and parameters, and the file system of pyarrow that they stand for.

Credentials come from the environment and the configuration files of the store's vendor. A URI has none, because paths
are printed and sent to workers. The endpoint and the region are part of an address, so that a worker uses the ones of
the driver.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from ..bad_option import BadOption

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

# By the scheme of Hadoop's clients too.
_SAME_SCHEME = {"s3a": "s3", "s3n": "s3"}
_AZURE_PARAMETERS = (
    *("blob_storage_authority", "dfs_storage_authority", "enable_tls"),
    *("credential_kind", "tenant_id", "client_id"),
)
# The parameters that a URI may have, by scheme. Credentials are not among them.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "s3": ("endpoint_override", "scheme", "region"),
    "gs": ("endpoint_override", "scheme", "retry_limit_seconds"),
    "abfs": _AZURE_PARAMETERS,
    "abfss": _AZURE_PARAMETERS,
    "hdfs": ("replication", "kerb_ticket"),
}
SCHEMES = ("file", *_PARAMETERS, *_SAME_SCHEME)
_ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
# The default region of servers other than Amazon's, which is part of a signature.
_REGION_DEFAULT = "us-east-1"

# Of one attempt. store_attempts.py makes the next one.
CONNECT_SECONDS_MAX = 5.0
REQUEST_SECONDS_MAX = 10.0
# The limit of pyarrow's client for all attempts together, instead of its 15 minutes.
_GCS_RETRY_SECONDS_MAX = 30

_FILE = "file:"
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A bucket or container, or a file system of Hadoop. scheme: s3, gs, abfs, abfss or hdfs.

    authority: the part of a URI in front of its path. parameters: of the URI, with the endpoint of the environment.
    """

    scheme: str
    authority: str
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def root(self) -> str:
        """The URI of the store, without a path and parameters."""
        return f"{self.scheme}://{self.authority}"


def is_uri(path: str) -> bool:
    """Whether a path begins with a scheme."""
    return _URI.match(path) is not None or _is_file_uri(path)


def _is_file_uri(path: str) -> bool:
    return path[: len(_FILE)].lower() == _FILE


def has_known_scheme(path: str) -> bool:
    """Whether a path has no scheme or one of SCHEMES."""
    return not is_uri(path) or path.partition(":")[0].lower() in SCHEMES


def local_path_of(path: str) -> str | None:
    """Return the path on this machine; None for the URI of a store. Raises BadOption for a file on another host."""
    if not _is_file_uri(path):
        return None if is_uri(path) else path
    place = path[len(_FILE) :]
    if place.startswith("//") and not place.startswith("///"):
        raise BadOption(f"path: {path} names a host; must be file:/folder or file:///folder")
    return "/" + place.lstrip("/") if place.startswith("/") else place


def parse_uri(name: str, uri: str, environment: Mapping[str, str] | None = None) -> tuple[StoreAddress, str]:
    """Return the address and the URI without parameters. name: of the option, for the BadOption of an invalid URI.

    environment: default is that of this process.
    """
    variables = os.environ if environment is None else environment
    head, _, query = uri.partition("?")
    scheme, _, rest = head.partition("://")
    scheme = _SAME_SCHEME.get(scheme.lower(), scheme.lower())
    if scheme not in _PARAMETERS:
        raise BadOption(f"{name}: {head} has the scheme {scheme}; supported are {', '.join(SCHEMES)}")
    authority, _, path = rest.partition("/")
    _check_authority(name, scheme, authority, head)
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(parameters.keys() - set(_PARAMETERS[scheme]))
    if unknown:
        raise BadOption(
            f"{name}: {head} has the parameter {unknown[0]}; those of {scheme} are {', '.join(_PARAMETERS[scheme])}"
        )
    if parameters.get("scheme", "https") not in ("http", "https"):
        raise BadOption(f"{name}: the parameter scheme must be http or https, not {parameters['scheme']}")
    if scheme == "s3":
        parameters = _with_endpoint(parameters, variables)
    address = StoreAddress(scheme, authority, tuple(sorted(parameters.items())))
    return address, f"{address.root}/{path.strip('/')}".rstrip("/")


def _check_authority(name: str, scheme: str, authority: str, head: str) -> None:
    user, separator, _ = authority.rpartition("@")
    if ":" in user or (separator and scheme == "s3"):
        # Without the URI, because it has a secret.
        raise BadOption(f"{name}: a URI must not contain credentials; set them in the environment")
    if not authority and scheme != "hdfs":
        raise BadOption(f"{name}: {head} has no bucket; must be such as {scheme}://bucket/folder")


def _with_endpoint(parameters: dict[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with the endpoint and the region of the environment, unless they have their own."""
    if "endpoint_override" not in parameters:
        url = next((variables[name] for name in _ENDPOINT_VARIABLES if variables.get(name)), None)
        if url is None:
            return parameters
        scheme, separator, place = url.rpartition("://")
        parameters = {"scheme": scheme if separator else "https", **parameters, "endpoint_override": place.rstrip("/")}
    region = next((variables[name] for name in _REGION_VARIABLES if variables.get(name)), _REGION_DEFAULT)
    return {"region": region, **parameters}


@dataclass(frozen=True, slots=True)
class OpenStore:
    """A file system of pyarrow, and the path in it that the root of an address stands for."""

    address: StoreAddress
    file_system: FileSystem
    base: str

    def key_of(self, uri: str) -> str:
        """Return the path in the file system of a URI without parameters."""
        path = uri.removeprefix(self.address.root).strip("/")
        # The root of HDFS is /, and that of an account of Azure without a container has no name.
        folder = f"{self.base.rstrip('/')}/" if self.base else ""
        return f"{folder}{path}".rstrip("/") or self.base

    def uri_of(self, key: str) -> str:
        """Return the URI of a path in the file system."""
        # Hadoop lists files by their URIs.
        path = urlsplit(key).path if "://" in key else key.removeprefix(self.base.rstrip("/"))
        return f"{self.address.root}/{path.strip('/')}".rstrip("/")


@lru_cache
def open_store(address: StoreAddress) -> OpenStore:
    """Return the file system of an address, one for each process. Raises OSError and ValueError, as pyarrow does."""
    # Loads the clients of all stores, which a job over local files does not need.
    from pyarrow.fs import FileSystem

    if address.scheme == "s3":
        return OpenStore(address, _s3_of(address), address.authority)
    parameters = dict(address.parameters)
    if address.scheme == "gs":
        parameters.setdefault("retry_limit_seconds", str(_GCS_RETRY_SECONDS_MAX))
    query = f"?{urlencode(parameters)}" if parameters else ""
    return OpenStore(address, *FileSystem.from_uri(f"{address.root}/{query}"))


def _s3_of(address: StoreAddress) -> FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    parameters = dict(address.parameters)
    # Amazon's bucket is in the region that it was created in, whatever the region of the environment.
    region = parameters.get("region") or resolve_s3_region(address.authority)
    return S3FileSystem(
        region=region,
        scheme="http" if parameters.get("scheme") == "http" else "https",
        endpoint_override=parameters.get("endpoint_override"),
        connect_timeout=CONNECT_SECONDS_MAX,
        request_timeout=REQUEST_SECONDS_MAX,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
    )
