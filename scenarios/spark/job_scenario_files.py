"""Finds, reads and checks the files of scenarios with Spark; errors name the file and the place."""

from __future__ import annotations

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

from ...protocol.similar_names import unknown_name
from ..scenario import ALL_VERSIONS
from ..scenario_files import NodeCount, ScenarioFileError, UnknownScenario, batch_of
from .job_scenario import AnyJobStep, AuditLog, CopyJob, DedupLog, EndCopy, JobExpectation, JobScenario, Send, WriteJob

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = "data"
_SUFFIX = ".toml"


class _File(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields of a file: those of JobScenario, with the batches as text."""

    title: str
    story: str
    topics: dict[str, int]
    steps: list[AnyJobStep]
    expect: JobExpectation
    batches: dict[str, str] = {}
    versions: str = ALL_VERSIONS
    nodes: NodeCount = 1


def job_scenario_names() -> list[str]:
    """Return the names of all scenarios with Spark, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _folder().iterdir() if file.name.endswith(_SUFFIX))


def load_job_scenario(name: str) -> JobScenario:
    """Return a scenario. Raises UnknownScenario."""
    names = job_scenario_names()
    if name not in names:
        raise UnknownScenario(unknown_name("scenario with Spark", name, names))
    return parse_job_scenario(name, (_folder() / f"{name}{_SUFFIX}").read_text(encoding="utf-8"))


def _folder() -> Traversable:
    return resources.files(_PACKAGE) / _FOLDER


def parse_job_scenario(name: str, text: str) -> JobScenario:
    """Return the scenario of a file's text. Raises ScenarioFileError."""
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
        batches = {batch: batch_of(batch, sequences) for batch, sequences in file.batches.items()}
    except (ValueError, msgspec.ValidationError) as error:
        raise ScenarioFileError(f"{name}{_SUFFIX}: {error}") from error
    scenario = JobScenario(
        name=name,
        title=file.title,
        story=file.story,
        topics=file.topics,
        steps=file.steps,
        expect=file.expect,
        batches=batches,
        versions=file.versions,
        nodes=file.nodes,
    )
    _check_names(scenario)
    _check_ends(scenario)
    return scenario


def _check_names(scenario: JobScenario) -> None:
    """Raise ScenarioFileError for an undefined topic, batch or job."""
    topics: set[str] = set()
    batches: set[str] = set()
    jobs: set[str] = set()
    for step in scenario.steps:
        topics.update(_topics_of(step))
        if isinstance(step, Send):
            batches.update(step.batches)
        if isinstance(step, WriteJob | CopyJob):
            jobs.add(step.job)
    expect = scenario.expect
    topics.update(expect.rows, expect.events, expect.found, expect.dropped)
    expected_jobs = {*expect.jobs, *expect.failed_attempts, *expect.told, *expect.read}
    for kind, used, known in (
        ("topic", topics, set(scenario.topics)),
        ("batch", batches, set(scenario.batches)),
        ("job", expected_jobs, jobs),
    ):
        if unknown := used - known:
            raise ScenarioFileError(f"{scenario.name}{_SUFFIX}: unknown {kind} {', '.join(sorted(unknown))}")


def _check_ends(scenario: JobScenario) -> None:
    """Raise ScenarioFileError if a stream that follows its topic has no `end_copy` after it, or another step has."""
    running: set[str] = set()
    for step in scenario.steps:
        if isinstance(step, CopyJob) and step.follow:
            running.add(step.job)
        if isinstance(step, EndCopy):
            if step.job not in running:
                raise ScenarioFileError(f"{scenario.name}{_SUFFIX}: end_copy of {step.job}, which does not follow")
            running.remove(step.job)
    if running:
        raise ScenarioFileError(f"{scenario.name}{_SUFFIX}: no end_copy of {', '.join(sorted(running))}")


def _topics_of(step: AnyJobStep) -> set[str]:
    match step:
        case CopyJob() | DedupLog():
            return {step.topic, step.to}
        case AuditLog():
            return {step.topic, *step.sent_to}
        case _:
            topic = getattr(step, "topic", None)
            return set() if topic is None else {topic}
