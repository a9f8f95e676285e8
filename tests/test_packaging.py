"""What ships is what is linked: src/fauxka gives the parts of this checkout their import name."""

import json
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from .serving_process import environment, run, serving, stop

ROOT = Path(__file__).resolve().parent.parent
NAMED = ROOT / "src" / "fauxka"
# The parts with another name in the root, where this one would hide the package that it builds on.
OTHER_NAMES = {"testcontainers.py": "fauxka_container.py"}
NOT_SHIPPED = {"tests", "tools", "benchmarks", "docs"}
BUILT = (".venv", "__pycache__", "*.egg-info", "*.so", "build", "dist", ".*_cache", ".hypothesis")
NOT_COPIED = (".git", *BUILT)
# A build and an installation, both with downloads.
STEP_SECONDS_MAX = 240
# pyspark is 450 MB, and a session of it takes its time where much else runs.
SPARK_SECONDS_MAX = 900
KAFKA_LOGS = ROOT / "tests" / "golden" / "kafka-4.3.0-data-dir"


def linked() -> list[Path]:
    return [entry for entry in NAMED.iterdir() if entry.name != "__pycache__"]


def part_of(entry: Path) -> str:
    """Return the name in the root of what a link gives its import name."""
    return OTHER_NAMES.get(entry.name, entry.name)


def test_src_holds_nothing_but_working_links() -> None:
    plain = [entry.name for entry in linked() if not entry.is_symlink()]

    assert plain == [], "not links; was this cloned with core.symlinks=false?"
    assert [entry.name for entry in linked() if entry.resolve() != ROOT / part_of(entry)] == []


def test_every_part_is_linked() -> None:
    parts = {path.parent.name for path in ROOT.glob("*/__init__.py")} - NOT_SHIPPED
    modules = {path.name for path in ROOT.glob("*.py") if path.name != "setup.py"} | {"py.typed"}

    assert {part_of(entry) for entry in linked()} == parts | modules


def test_every_part_reaches_the_build_of_the_image() -> None:
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert {part_of(entry) for entry in linked()} <= let_through


def test_the_root_imports_nothing_so_that_pytest_may_import_it_twice() -> None:
    lines = (ROOT / "__init__.py").read_text().splitlines()

    assert [line for line in lines if line.startswith(("import ", "from "))] == []


@dataclass(frozen=True)
class Distributions:
    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The sdist of a copy of this checkout, and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("build")
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    step(sys.executable, "-m", "build", "--outdir", str(folder), str(copy))
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return Distributions(sdist, wheel)


@pytest.fixture(scope="module")
def installed(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `fauxka` of a fresh environment with nothing but the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    step(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(distributions.wheel))
    return folder / "bin" / "fauxka"


def step(*command: str, variables: Mapping[str, str] | None = None) -> None:
    result = subprocess.run(
        command, env=environment(variables), capture_output=True, text=True, timeout=STEP_SECONDS_MAX
    )
    assert result.returncode == 0, result.stdout + result.stderr


def modules_of_the_checkout() -> set[str]:
    """The modules of the parts, the scenarios, which are data, and the page of the admin API."""
    paths = [
        path
        for part in linked()
        for path in (
            [part]
            if part.is_file()
            else [found for pattern in ("*.py", "*.toml", "page/*") for found in part.resolve().rglob(pattern)]
        )
    ]
    import_names = {part: name for name, part in OTHER_NAMES.items()}
    names = [str(path.resolve().relative_to(ROOT)) for path in paths]
    return {f"fauxka/{import_names.get(name, name)}" for name in names}


@pytest.mark.slice
@pytest.mark.packaging
def test_wheel_holds_every_module_scenario_and_page_file_under_the_one_name(distributions: Distributions) -> None:
    with zipfile.ZipFile(distributions.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert names == modules_of_the_checkout() | compiled_files()


def compiled_files() -> set[str]:
    """The compiled files of a wheel: one of each module, and the library that they share."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    listed = re.findall(r'"src/(fauxka/.*)\.py"', (ROOT / "setup.py").read_text())
    return {f"{module}{suffix}" for module in listed} | {f"fauxka__mypyc{suffix}"}


@pytest.mark.packaging
def test_sdist_holds_plain_files(distributions: Distributions) -> None:
    with tarfile.open(distributions.sdist) as archive:
        members = archive.getmembers()

    assert [member.name for member in members if not (member.isfile() or member.isdir())] == []


@pytest.mark.slice
@pytest.mark.packaging
def test_installed_command_serves_a_request(installed: Path, tmp_path: Path) -> None:
    with serving(tmp_path, command=[str(installed)]) as broker:
        health = run("health", "--port", str(broker.port), command=[str(installed)])
        ended = stop(broker, signal.SIGTERM)

    assert (health.exit_code, health.log) == (0, "")
    assert ended.exit_code == 0


@pytest.mark.packaging
def test_installed_command_opens_the_admin_api(installed: Path, tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", command=[str(installed)]) as broker:
        with urlopen(f"{broker.admin}/metrics", timeout=10) as answer:
            metrics = answer.read().decode()
        with urlopen(f"{broker.admin}/v1/scenarios", timeout=10) as answer:
            scenarios = json.load(answer)

    assert "fauxka_up 1.0" in metrics
    assert scenarios["items"] != []


@pytest.mark.packaging
def test_installed_version_is_the_one_of_pyproject(installed: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    ended = run("--version", command=[str(installed)])

    assert ended.output == f"fauxka, version {project['version']}, compiled\n"


@pytest.mark.packaging
def test_installation_without_a_compiler_is_plain_python(distributions: Distributions, tmp_path: Path) -> None:
    programs = tmp_path / "plain" / "bin"
    venv.create(programs.parent, with_pip=True)
    install = (str(programs / "python"), "-m", "pip", "install", "--quiet", str(distributions.sdist))

    step(*install, variables={"CC": "no-compiler"})
    ended = run("--version", command=[str(programs / "fauxka")])
    with serving(tmp_path, "--log-level", "info", command=[str(programs / "fauxka")]) as broker:
        stopped = stop(broker, signal.SIGTERM)

    assert ended.output.endswith("plain Python\n")
    assert "running as plain Python" in stopped.log


@pytest.mark.packaging
def test_build_without_a_compiler_fails_where_compiled_files_are_required(
    distributions: Distributions, tmp_path: Path
) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(distributions.sdist)]

    variables = {"CC": "no-compiler", "FAUXKA_COMPILE": "1"}
    ended = subprocess.run(build, env=environment(variables), capture_output=True, text=True, timeout=STEP_SECONDS_MAX)

    assert ended.returncode != 0
    assert "no-compiler" in ended.stdout + ended.stderr


@pytest.mark.packaging
def test_wheel_without_compiled_files_is_for_every_platform(distributions: Distributions, tmp_path: Path) -> None:
    build = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(distributions.sdist))

    step(*build, variables={"FAUXKA_COMPILE": "0"})

    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.packaging
def test_extra_that_a_command_names_installs_what_it_needs(installed: Path) -> None:
    scenario = ("scenario", "run", "success", "--client", "kafka-python")

    without = run(*scenario, command=[str(installed)])
    listed = run("scenario", "list", command=[str(installed)])
    # The line of the message, for the environment of the command.
    install = without.log.partition("install it with ")[2].replace("'", "").split()
    step(str(installed.parent / install[0]), "--quiet", *install[1:])
    ended = run(*scenario, command=[str(installed)])

    assert (without.exit_code, without.output) == (2, "")
    needed = "the client kafka-python needs the package kafka-python"
    assert without.log == f"fauxka: {needed}; install it with pip install 'fauxka[clients]'\n"
    assert "\nclients: raw\n" in listed.output
    assert (ended.exit_code, ended.log) == (0, ""), ended.output


@pytest.mark.packaging
def test_python_example_runs_where_it_lies_and_from_the_root(installed: Path, tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    shutil.copytree(ROOT, root, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    programs = installed.parent
    step(str(programs / "pip"), "install", "--quiet", "pytest", "confluent-kafka", "fauxka[security]")
    pytest_command = (str(programs / "pytest"), "-q", "-p", "no:cacheprovider")

    in_folder = subprocess.run([*pytest_command], cwd=root / "examples" / "python", env=environment(), check=False)
    in_root = subprocess.run([*pytest_command, "examples/python"], cwd=root, env=environment(), check=False)

    assert (in_folder.returncode, in_root.returncode) == (0, 0)


@pytest.mark.packaging
def test_steps_of_the_readme_install_the_command_and_a_wheel(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    shutil.copytree(ROOT, root, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    section = (ROOT / "README.md").read_text().partition("\n## Install\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^ {4}(.*)$", section, re.MULTILINE)
    extras = re.findall(r"`(pip install '\.\[clients\]')`", section)
    script = "\n".join(["set -e", *steps, *extras, "fauxka scenario list", "command -v fauxka"])

    ended = subprocess.run(
        ["bash", "-c", script],
        cwd=root,
        env=environment({"HOME": str(tmp_path)}),
        capture_output=True,
        text=True,
        # It builds three times.
        timeout=3 * STEP_SECONDS_MAX,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(extras) == 1
    lines = ended.stdout.splitlines()
    assert "fauxka, version 0.1.0, compiled" in lines
    assert "clients: raw, confluent, aiokafka, kafka-python" in lines
    assert lines[-1] == f"{tmp_path}/.venvs/fauxka/bin/fauxka"


@pytest.mark.packaging
def test_installed_command_names_the_extra_that_installs_spark(installed: Path, tmp_path: Path) -> None:
    ended = run("spark-jars", "--dest", str(tmp_path), command=[str(installed)])

    assert ended.exit_code == 2
    assert ended.log == "fauxka: pyspark is not installed; install it with pip install 'fauxka[spark]'\n"


@pytest.mark.spark
def test_installed_command_brings_the_jars_of_spark(installed: Path, tmp_path: Path) -> None:
    packages = subprocess.run(
        [str(installed.parent / "python"), "-c", "import site; print(site.getsitepackages()[0])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # pyspark is 450 MB: that of this environment is lent, behind what was installed.
    lent = Path(packages, "lent.pth")
    lent.write_text(sysconfig.get_path("purelib") + "\n")

    try:
        ended = run("spark-jars", "--dest", str(tmp_path), command=[str(installed)])
    finally:
        lent.unlink()

    assert (ended.exit_code, ended.output) == (0, f"{tmp_path}\n"), ended.log
    assert len(list(tmp_path.glob("*.jar"))) == 4


@pytest.mark.spark_versions
@pytest.mark.timeout(2400)
def test_the_extra_spark_and_the_jars_are_all_that_an_audit_needs(distributions: Distributions, tmp_path: Path) -> None:
    programs = tmp_path / "fresh" / "bin"
    venv.create(programs.parent, with_pip=True)
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet", f"{distributions.wheel}[spark]"]
    subprocess.run(install, env=environment(), check=True, timeout=SPARK_SECONDS_MAX)
    command = [str(programs / "fauxka")]

    jars = run("spark-jars", "--dest", str(tmp_path / "jars"), command=command, seconds_max=STEP_SECONDS_MAX)
    ended = run(
        *("audit", "--path", str(KAFKA_LOGS), "--event-id", "key", "--json", "-", "--master", "local[2]"),
        command=command,
        seconds_max=SPARK_SECONDS_MAX,
    )

    assert (jars.exit_code, jars.output) == (0, f"{tmp_path}/jars\n"), jars.log
    assert ended.exit_code == 1, ended.log
    assert json.loads(ended.output)["verdict"] == "findings"
