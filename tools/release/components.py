"""The packages of an environment or an image, with their versions and the licences that their metadata names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote

# Runs in the environment that is listed. The expression of PEP 639 first; older packages have a name, or classifiers.
LIST_PACKAGES = """
import json
from importlib.metadata import distributions
def licence_of(package):
    texts = [package.get("License-Expression"), package.get("License")]
    named = [line.rpartition(" :: ")[2] for line in package.get_all("Classifier", []) if line.startswith("License ::")]
    lines = [text for text in texts if text and "\\n" not in text and len(text) < 100]
    return (lines or [" AND ".join(named)])[0]
print(json.dumps(sorted([each.name, each.version, licence_of(each.metadata)] for each in distributions())))
"""
LIST_DEBIAN = ("dpkg-query", "--show", "--showformat=${binary:Package}\\t${Version}\\t${Architecture}\\n")


@dataclass(frozen=True, slots=True)
class Component:
    """A package. purl: its package URL. licence: as the package names it, "" if it does not."""

    name: str
    version: str
    licence: str
    purl: str


def components_of_python(output: str) -> list[Component]:
    """Return the packages, without pip, that LIST_PACKAGES has printed in an environment."""
    listed: list[tuple[str, str, str]] = json.loads(output)
    return [
        Component(name, version, licence, f"pkg:pypi/{quote(name.lower().replace('_', '-'))}@{quote(version)}")
        for name, version, licence in listed
        if name != "pip"
    ]


def components_of_debian(output: str) -> list[Component]:
    """Return the packages of Debian that `dpkg-query` has printed with LIST_DEBIAN.

    Their licences are in /usr/share/doc/*/copyright of the image.
    """
    rows = [line.split("\t") for line in output.splitlines()]
    return [
        Component(name.partition(":")[0], version, "", _debian_purl(name.partition(":")[0], version, architecture))
        for name, version, architecture in rows
    ]


def _debian_purl(name: str, version: str, architecture: str) -> str:
    return f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}?arch={architecture}"
