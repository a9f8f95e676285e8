"""What is published beside the artefacts, written from them and from the packages that were found with them.

| file | |
|---|---|
| `SHA256SUMS` | of every artefact, as `sha256sum --check` reads it |
| `*.cdx.json` | CycloneDX 1.6: the wheel with its locked dependencies, and what the image has |
| `LICENSES.txt` | each package with its licence, as its metadata names it |
| `provenance.json` | in-toto statement of SLSA 1.0: commit and locks; the workflow signs one of its own |
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .builds import Source
from .components import Component

NAME = "fauxka"
SUMS = "SHA256SUMS"
# Of the serial numbers of bills of materials: the same content has the same number.
NAMESPACE = uuid.UUID("8f2b1c1e-0f0b-5c6e-9f0d-2d1a4bb7a0c4")
# What installs, builds and repairs the artefacts, and what the bill of materials of the wheel lists.
LOCKS = tuple(f"requirements/{name}.txt" for name in ("build", "image", "installer", "release"))
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def write_materials(source: Source, in_wheel: Sequence[Component], in_image: Sequence[Component], folder: Path) -> None:
    """Write the bills of materials and the licences. in_image: nothing if the image was not built."""
    (subject,) = [part for part in in_wheel if part.name == NAME]
    (folder / f"{NAME}-{source.version}.cdx.json").write_text(bill_of_materials(subject, in_wheel, source.epoch))
    if in_image:
        image = replace(subject, purl=f"pkg:oci/{NAME}?tag={source.version}")
        document = bill_of_materials(image, in_image, source.epoch)
        (folder / f"{NAME}-{source.version}-image.cdx.json").write_text(document)
    (folder / "LICENSES.txt").write_text(licences([*in_wheel, *in_image]))


def write_digests(source: Source, artefacts: Sequence[Path], folder: Path) -> None:
    """Write SHA256SUMS and the provenance."""
    (folder / SUMS).write_text(checksums(artefacts))
    (folder / "provenance.json").write_text(provenance(source, artefacts))


def sha256_of(path: Path) -> str:
    """Return the digest of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checksums(artefacts: Sequence[Path]) -> str:
    """Return the lines of SHA256SUMS, sorted by name."""
    return "".join(f"{sha256_of(path)}  {path.name}\n" for path in sorted(artefacts, key=lambda each: each.name))


def bill_of_materials(subject: Component, parts: Sequence[Component], epoch: int) -> str:
    """Return a CycloneDX document in JSON. parts: without the subject itself. epoch: the time of the commit."""
    others = sorted(
        {part.purl: part for part in parts if part.purl != subject.purl}.values(), key=lambda each: each.purl
    )
    described = [_component(part, "library") for part in others]
    number = uuid.uuid5(NAMESPACE, json.dumps([subject.purl, described]))
    timestamp = time.strftime(TIME_FORMAT, time.gmtime(epoch))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"timestamp": timestamp, "component": _component(subject, "application")},
        "components": described,
        "dependencies": [{"ref": subject.purl, "dependsOn": [part.purl for part in others]}],
    }
    return json.dumps(document, indent=1) + "\n"


def _component(component: Component, kind: str) -> dict[str, object]:
    named = {"licenses": [{"license": {"name": component.licence}}]} if component.licence else {}
    fixed = {"type": kind, "bom-ref": component.purl, "name": component.name, "version": component.version}
    return {**fixed, "purl": component.purl, **named}


def licences(components: Sequence[Component]) -> str:
    """Return a line for each package whose metadata has a licence: name, version, licence."""
    found = {part.purl: part for part in components if part.licence}
    return "".join(f"{part.name} {part.version}: {part.licence}\n" for _, part in sorted(found.items()))


def provenance(source: Source, artefacts: Sequence[Path]) -> str:
    """Return an in-toto statement with a SLSA provenance.

    It has no times: the artefacts come from several machines, whose clocks and files do not show when a build began.
    """
    repository = _repository()
    subjects = [{"name": path.name, "digest": {"sha256": sha256_of(path)}} for path in sorted(artefacts)]
    commit: list[Mapping[str, object]] = [{"uri": f"git+{repository}", "digest": {"gitCommit": source.commit}}]
    locks = [{"uri": name, "digest": {"sha256": sha256_of(source.folder / name)}} for name in LOCKS]
    definition = {
        "buildType": f"{repository}/blob/{source.commit}/docs/release.md",
        "externalParameters": {"repository": repository, "commit": source.commit},
        "resolvedDependencies": [*commit, *locks],
    }
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": definition,
            "runDetails": {"builder": {"id": _builder()}},
        },
    }
    return json.dumps(statement, indent=1) + "\n"


def _repository() -> str:
    """Return the address of the repository in a workflow; elsewhere a name, because a checkout has no address."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")
    parts = [os.environ[name] for name in names if os.environ.get(name)]
    return "/".join(parts) if len(parts) == len(names) else "urn:fauxka:checkout"


def _builder() -> str:
    workflow = os.environ.get("GITHUB_WORKFLOW_REF")
    return f"{os.environ.get('GITHUB_SERVER_URL')}/{workflow}" if workflow else "urn:fauxka:make-release-check"
