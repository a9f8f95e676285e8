"""What a public repository needs: workflows that call make, an action that starts a broker, and files that agree."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.release.tag_check import different_versions

from .serving_process import POLL_SECONDS, environment, run
from .test_packaging import NOT_COPIED

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SETUP = ROOT / "setup"
# What prepares a machine. Everything else is `make`, so that it runs on a machine without the forge, too.
PREPARATIONS = ("sudo .ci/programs", "git config ", "fauxka health ")
CALLS = re.compile(r"(sudo --preserve-env=[A-Z_,]+ )?(make |\.ci/run$)")
STEP_SECONDS_MAX = 240


def document(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text())
    return loaded


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in document(path)["jobs"].items():
            yield f"{path.stem} {name}", job


STEPS = [(f"{job}: {step['run']}", step["run"]) for job, found in jobs() for step in found["steps"] if "run" in step]


@pytest.mark.parametrize("command", [command for _, command in STEPS], ids=[name for name, _ in STEPS])
def test_a_step_of_a_workflow_calls_make(command: str) -> None:
    assert command.startswith(PREPARATIONS) or CALLS.match(command)


def test_make_has_each_target_of_the_workflows() -> None:
    called = {word for _, command in STEPS for word in re.findall(r"make ([\w-]+)", command)}

    ended = subprocess.run(["make", "--dry-run", *called], cwd=ROOT, capture_output=True, text=True)

    assert len(called) >= 5
    assert "No rule to make target" not in ended.stderr


def test_groups_of_the_night_are_groups() -> None:
    markers = {line.partition(":")[0] for line in project()["tool"]["pytest"]["ini_options"]["markers"]}
    nightly = dict(jobs())["nightly group"]["strategy"]["matrix"]["group"]

    assert {"reference", "spark", "containers", "hunt", "spark_versions", "python_versions"} <= set(nightly) <= markers


@pytest.mark.parametrize("job", ["ci test", "ci test-windows"])
def test_every_python_is_tested(job: str) -> None:
    claimed = [line.rpartition(" ")[2] for line in project()["project"]["classifiers"] if ":: Python :: 3." in line]

    assert dict(jobs())[job]["strategy"]["matrix"]["python"] == claimed


def test_make_check_runs_in_one_job() -> None:
    steps = [step.get("run", "") for name, job in jobs() if name.startswith("ci ") for step in job["steps"]]

    assert [step for step in steps if re.search(r"make check$|\.ci/run", step)] == [
        "sudo --preserve-env=PATH,JAVA_HOME .ci/run"
    ]


def test_java_is_handed_on_where_it_was_installed() -> None:
    handed_on = {name for name, job in jobs() if any("JAVA_HOME" in step.get("run", "") for step in job["steps"])}
    installed = {name for name, job in jobs() if any("setup-java" in step.get("uses", "") for step in job["steps"])}

    assert handed_on == installed != set()


def test_only_the_publishing_job_may_ask_for_an_identity() -> None:
    asking = [name for name, job in jobs() if "id-token" in job.get("permissions", {})]
    workflows = [document(path)["permissions"] for path in WORKFLOWS]

    assert asking == ["release publish"]
    assert workflows == [{"contents": "read"}] * len(workflows)
    assert dict(jobs())["release publish"]["environment"] == "pypi"


def test_the_publishing_job_runs_nothing_of_the_repository() -> None:
    steps = dict(jobs())["release publish"]["steps"]

    assert [step["uses"].partition("@")[0] for step in steps] == [
        "actions/download-artifact",
        "actions/attest-build-provenance",
        "pypa/gh-action-pypi-publish",
    ]


def artefacts(job: str, action: str) -> list[dict[str, str]]:
    return [step["with"] for step in dict(jobs())[job]["steps"] if f"actions/{action}@" in step.get("uses", "")]


def test_published_sources_are_the_tested_ones() -> None:
    uploads = {each["name"]: each["path"].split() for each in artefacts("release check", "upload-artifact")}
    downloads = artefacts("release publish", "download-artifact")

    assert uploads["sources"] == ["build/release/*.tar.gz", "build/release/*-py3-none-any.whl"]
    assert downloads == artefacts("release evidence", "download-artifact")
    assert [each["pattern"] for each in downloads] == ["{wheels-*,sources}"]


def test_a_release_waits_for_the_checks_of_its_tag_and_wheels() -> None:
    release = {name.partition(" ")[2]: job for name, job in jobs() if name.startswith("release ")}
    commands = [step.get("run") for step in release["wheels"]["steps"]]

    assert {name: job.get("needs") for name, job in release.items()} == {
        "check": None,
        "wheels": None,
        "evidence": ["check", "wheels"],
        "publish": "evidence",
        "image": "publish",
    }
    assert release["check"]["env"] == {"TAG": "${{ github.ref_name }}"}
    assert "sudo --preserve-env=CI,PATH,TAG make release-check" in [
        step.get("run") for step in release["check"]["steps"]
    ]
    assert commands.index("make wheels") < commands.index("make wheels-check")


def made_by(*target: str, **variables: str) -> str:
    """Return the commands of a target without running them. target: also assignments of make."""
    command = ["make", "--dry-run", *target]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**environment(), **variables})
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_tag_is_checked_before_the_release_and_not_expanded_by_make(tmp_path: Path) -> None:
    expanded = tmp_path / "expanded"

    with_tag = made_by("release-check", TAG=f"v$(shell touch {expanded})")

    assert with_tag.index('tools.release tag "$TAG"') < with_tag.index("tools.public_surface")
    assert with_tag.index("tools.public_surface") < with_tag.index("tools.release check")
    assert "tools.release tag" not in made_by("release-check", TAG="")
    assert not expanded.exists()


def test_wheels_are_built_with_locked_packages() -> None:
    wheels = project()["tool"]["cibuildwheel"]

    assert wheels["build-frontend"] == {"name": "build", "args": ["--no-isolation"]}
    assert wheels["before-build"].startswith("python -m pip install --require-hashes --only-binary :all: ")
    assert wheels["before-build"].endswith(" {project}/requirements/build.txt")


def test_make_installs_a_locked_uv(tmp_path: Path) -> None:
    locked = (ROOT / "requirements" / "installer.txt").read_text()
    commands = made_by(f"{tmp_path}/bin/uv", f"VENV={tmp_path}")

    assert re.search(r"^uv==\S+ \\\n +--hash=", locked, re.MULTILINE)
    (installing,) = [line for line in commands.splitlines() if "pip install" in line]
    assert "--require-hashes" in installing
    assert installing.endswith("--requirement requirements/installer.txt")


@pytest.mark.parametrize("has_plugin", [True, False], ids=["plugin", "nothing"])
def test_compose_is_a_link_to_the_plugin_if_docker_has_one(tmp_path: Path, has_plugin: bool) -> None:
    programs, plugin = tmp_path / "programs", tmp_path / "docker-compose-plugin"
    existing = ["chromium", "firefox", "podman", "ip", "openssl", *(["docker"] if has_plugin else [])]
    for program in (plugin, *(programs / name for name in existing)):
        write_program(program, f"echo {plugin}")
    write_program(programs / "apt-get", f'echo "$@" >> {tmp_path}/apt')
    (programs / "ln").symlink_to(shutil.which("ln") or "")

    ended = subprocess.run(
        ["/bin/bash", str(ROOT / ".ci" / "programs"), str(programs)],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    update, install = (tmp_path / "apt").read_text().splitlines()
    assert (programs / "docker-compose").is_symlink() == has_plugin
    assert ("docker-compose" in install.split()) != has_plugin
    assert update == "update"
    assert {"runc", "buildah"} <= set(install.split())
    assert not {"podman", "iproute2"} & set(install.split())


def write_program(path: Path, line: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_versions_agree() -> None:
    assert list(different_versions(ROOT, project()["project"]["version"])) == []


MANIFESTS = {"docker": "Dockerfile", "gomod": "go.mod", "npm": "package.json", "maven": "pom.xml"}
# Manifests that dependabot does not update, below these paths, each with the reason.
UNWATCHED = {
    "pyproject.toml": "has lower bounds; requirements/ has what is installed",
    "requirements/": "written by `make lock`, each night with newer versions in nightly.yml",
    "benchmarks/kfake/": "docs/performance.md has what was measured with this version",
    "tests/clients/java_clients/": "the test chooses the versions",
    "tests/ecosystem/": "docs/ecosystem.md has the tested versions; a newer one needs the whole group",
    "tests/reference/": "the captures of tests/golden are from this release of Kafka",
    "tests/spark/": "the versions fit a version of Spark; a newer one needs the whole group",
}
MANIFEST = re.compile(
    r"(^|/)(pyproject\.toml|[^/]*requirements[^/]*\.txt|Dockerfile|go\.mod|package\.json|pom\.xml|Cargo\.toml|Gemfile"
    r"|build\.gradle(\.kts)?|[^/]+\.csproj)$|^requirements/"
)


def test_folders_of_dependabot_have_what_it_updates() -> None:
    updates = document(ROOT / ".github" / "dependabot.yml")["updates"]
    folders = [(each["package-ecosystem"], folder) for each in updates for folder in folders_of(each)]

    missing = [
        (kind, folder)
        for kind, folder in folders
        if kind in MANIFESTS and not (ROOT / folder.strip("/") / MANIFESTS[kind]).exists()
    ]
    assert missing == []
    assert {kind for kind, _ in folders} == {*MANIFESTS, "github-actions"}


def test_each_manifest_is_updated_by_dependabot_or_has_a_reason() -> None:
    updates = document(ROOT / ".github" / "dependabot.yml")["updates"]
    updated = {
        f"{folder}/{MANIFESTS[kind]}".lstrip("/")
        for each in updates
        for folder in folders_of(each)
        if (kind := each["package-ecosystem"]) in MANIFESTS
    }
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    others = {path for path in listed.splitlines() if MANIFEST.search(path)} - updated

    assert {path for path in others if not path.startswith(tuple(UNWATCHED))} == set()
    assert {reason for reason in UNWATCHED if not any(path.startswith(reason) for path in others)} == set()


def folders_of(update: Mapping[str, Any]) -> list[str]:
    return update.get("directories") or [update["directory"]]


class Runner:
    """Runs the steps of the action as the forge does: with files for outputs, variables and the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.action = document(SETUP / "action.yml")
        self.action_folder = SETUP
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")}
        for file in self.files.values():
            file.touch()
        self.programs = str(Path(sys.executable).parent)

    def step(
        self, name: str, inputs: Mapping[str, str], beside: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a step. inputs: the others have their defaults. beside: more variables."""
        (step,) = [each for each in self.action["runs"]["steps"] if each["id"] == name]
        values = {key: value["default"] for key, value in self.action["inputs"].items()} | dict(inputs)
        variables = {
            key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
            for key, text in step["env"].items()
        }
        fixed = {"RUNNER_TEMP": str(self.folder), "GITHUB_ACTION_PATH": str(self.action_folder)}
        files = {name: str(file) for name, file in self.files.items()}
        path = os.pathsep.join([*self.files["GITHUB_PATH"].read_text().split(), self.programs, os.environ["PATH"]])
        # The broker keeps no pipe of the step open.
        return subprocess.run(
            [step["shell"], "-e", "-c", step["run"]],
            cwd=self.folder,
            env={**environment(beside), **fixed, **files, **variables, "PATH": path, "FAUXKA_COMPILE": "0"},
            capture_output=True,
            text=True,
            timeout=STEP_SECONDS_MAX,
        )

    def written(self, name: str) -> dict[str, str]:
        lines = self.files[name].read_text().splitlines()
        return {key: value for key, _, value in (line.partition("=") for line in lines)}

    def stop(self) -> None:
        """End the broker, as the forge does at the end of the job."""
        ready = self.folder / "fauxka-ready.json"
        if ready.exists():
            os.kill(int(document(ready)["pid"]), signal.SIGTERM)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    made = Runner(tmp_path)
    yield made
    made.stop()


@pytest.mark.processes
@pytest.mark.slice
def test_the_action_starts_a_broker_and_hands_its_addresses_on(runner: Runner) -> None:
    ended = runner.step("start", {"port": "0", "arguments": "--seed-topic orders -c num.partitions=3"})

    assert ended.returncode == 0, ended.stderr
    outputs, variables = runner.written("GITHUB_OUTPUT"), runner.written("GITHUB_ENV")
    named = {key: value["value"] for key, value in runner.action["outputs"].items()}
    assert named == {key: f"${{{{ steps.start.outputs.{key} }}}}" for key in outputs}
    assert outputs["bootstrap"] == f"127.0.0.1:{outputs['port']}"
    assert variables == {"FAUXKA_BOOTSTRAP": outputs["bootstrap"], "FAUXKA_ADMIN": outputs["admin"]}
    assert run("health", "--port", outputs["port"]).exit_code == 0
    # As in README.md, without options.
    assert run("admin", variables=variables).output == f"{outputs['admin']}\n"
    assert run("fault", "add", "lost_ack", variables=variables).exit_code == 0
    assert outputs["admin"].startswith("http://")


@pytest.mark.processes
def test_the_action_hands_on_each_node_and_the_port_of_the_first(runner: Runner) -> None:
    (runner.folder / "num.partitions=3").touch()

    ended = runner.step("start", {"port": "0", "arguments": "--nodes 3\n-c num.partition?=3"})

    assert ended.returncode == 1
    assert "num.partition?" in ended.stderr
    ended = runner.step("start", {"port": "0", "arguments": "--nodes 3\n-c num.partitions=3"})
    outputs = runner.written("GITHUB_OUTPUT")
    addresses = outputs["bootstrap"].split(",")
    assert (ended.returncode, len(addresses)) == (0, 3), ended.stderr
    assert addresses[0] == f"127.0.0.1:{outputs['port']}"
    assert runner.written("GITHUB_ENV")["FAUXKA_BOOTSTRAP"] == outputs["bootstrap"]


@pytest.mark.processes
def test_the_action_ends_a_broker_that_is_not_ready_in_time(runner: Runner) -> None:
    shutil.copytree(SETUP, runner.folder / "setup")
    script = runner.folder / "setup" / "start.sh"
    script.write_text(script.read_text().replace("start_seconds_max=60", "start_seconds_max=1"))
    runner.action_folder = script.parent
    unwritten = runner.folder / "unwritten"

    ended = runner.step("start", {"port": "0", "arguments": f"--advertised-file {unwritten}"})

    assert (ended.returncode, "did not start" in ended.stderr) == (1, True)
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while str(unwritten) in processes and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(unwritten) not in processes


@pytest.mark.processes
def test_the_action_shows_why_the_broker_does_not_start(runner: Runner) -> None:
    ended = runner.step("start", {"arguments": "--nodes 99"})

    assert ended.returncode == 1
    assert "99 is not in the range" in ended.stderr
    assert runner.files["GITHUB_OUTPUT"].read_text() == ""


@pytest.fixture
def checkout(runner: Runner) -> Path:
    """A copy of this checkout with the action. A build leaves files in its folder."""
    folder = runner.folder / "checkout"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    runner.action_folder = folder / "setup"
    return folder


@pytest.mark.packaging
def test_the_action_installs_its_sources(runner: Runner, checkout: Path) -> None:
    installed = runner.step("install", {"version": "sources"})
    (programs,) = runner.files["GITHUB_PATH"].read_text().split()
    started = runner.step("start", {"port": "0"})

    assert (installed.returncode, started.returncode) == (0, 0), installed.stderr + started.stderr
    version = run("--version", command=[str(Path(programs) / "fauxka")])
    assert version.output == f"fauxka, version {project()['project']['version']}, plain Python\n"


@pytest.mark.packaging
def test_the_action_installs_the_release_where_links_are_files(runner: Runner, checkout: Path) -> None:
    index = runner.folder / "index"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(index), str(checkout)]
    subprocess.run(build, check=True, env=environment({"FAUXKA_COMPILE": "0"}), timeout=STEP_SECONDS_MAX)
    for link in (checkout / "src" / "fauxka").iterdir():
        target = os.readlink(link)
        link.unlink()
        link.write_text(target)

    from_sources = runner.step("install", {"version": "sources"})
    released = runner.step("install", {}, {"PIP_FIND_LINKS": str(index)})

    assert (from_sources.returncode, "in place of symbolic links" in from_sources.stderr) == (1, True)
    assert released.returncode == 0, released.stderr
    (programs,) = runner.files["GITHUB_PATH"].read_text().split()
    assert run("--version", command=[str(Path(programs) / "fauxka")]).exit_code == 0
