"""The image of our Dockerfile, built and run without a container engine.

buildah performs the Dockerfile as it stands, each RUN in a chroot. One thing differs from what Docker would do: the
base is a Debian with its own Python, made by debootstrap, in place of python:slim, so that no image is downloaded.
The entry point is then started as process 1 of its own process and network namespaces, in the image's file system, with
the image's user and environment.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

ROOT = Path(__file__).resolve().parent.parent.parent
BASE_IMAGE = "localhost/python-base"
IMAGE = "localhost/fauxka-under-test"
DEBIAN = "bookworm"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# Certificates that this machine trusts beyond Debian's.
OWN_CERTIFICATES = Path("/usr/local/share/ca-certificates")

# dpkg waits for the disk after each file. The images of a run take 2 GB.
IN_MEMORY = Path("/dev/shm")
STORAGE_BYTES_MAX = 4 * 1024**3

# debootstrap and the build download some 100 MB.
STEP_SECONDS_MAX = 600
START_SECONDS_MAX = 20
DOWNLOADS_MAX = 3
POLL_SECONDS = 0.02


class Healthcheck(TypedDict):
    Test: list[str]


class ImageConfig(TypedDict):
    """What an image says of itself, by Docker's names."""

    User: str
    WorkingDir: str
    Env: list[str]
    Entrypoint: list[str]
    Cmd: list[str]
    ExposedPorts: dict[str, dict[str, str]]
    Labels: dict[str, str]
    StopSignal: str
    Healthcheck: Healthcheck


@dataclass(frozen=True)
class BuiltImage:
    """An image, and its file system."""

    config: ImageConfig
    file_system: Path

    def command(self, arguments: Sequence[str], variables: Mapping[str, str] | None = None) -> list[str]:
        """Return the command that runs arguments in the image's file system, as its user, with its environment."""
        user = self._ids_of(self.config["User"])
        assignments = [*self.config["Env"], *(f"{name}={value}" for name, value in (variables or {}).items())]
        working_folder = f"--chdir={self.config['WorkingDir']}"
        chroot = ["chroot", f"--userspec={user}", str(self.file_system)]
        return [*chroot, "env", "-i", working_folder, *assignments, *arguments]

    def _ids_of(self, user: str) -> str:
        lines = (self.file_system / "etc" / "passwd").read_text().splitlines()
        (fields,) = [line.split(":") for line in lines if line.startswith(f"{user}:")]
        return f"{fields[2]}:{fields[3]}"


@dataclass(frozen=True)
class Running:
    """The entry point as process 1; pid is its number as seen from here."""

    image: BuiltImage
    unshare: subprocess.Popen[str]
    pid: int

    def run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run arguments beside it, in the same network namespace, as a health check is run."""
        command = ["nsenter", f"--target={self.pid}", "--net", *self.image.command(arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS_MAX, check=False)

    def has_open_port(self, port: int) -> bool:
        """Whether something listens on that port in its network namespace."""
        sockets = Path(f"/proc/{self.pid}/net/tcp").read_text().splitlines()[1:]
        return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in sockets)


@contextmanager
def storage_folder(name: str) -> Generator[Path, None, None]:
    """Return a folder for images for the length of the block. It is in memory if there is enough.

    Its path is shorter than 50 characters, since podman takes no longer one.
    """
    place = IN_MEMORY if has_memory(STORAGE_BYTES_MAX) else None
    # Not one of pytest's, which keeps those of three runs.
    with tempfile.TemporaryDirectory(prefix=name, dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def has_memory(size: int) -> bool:
    """Whether a file system in memory, and memory itself, has that many bytes left."""
    if not IN_MEMORY.is_dir() or shutil.disk_usage(IN_MEMORY).free < size:
        return False
    available = re.search(r"^MemAvailable: *(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return available is not None and int(available[1]) * 1024 > 2 * size


@contextmanager
def built_image(folder: Path) -> Generator[BuiltImage, None, None]:
    """Perform the Dockerfile's steps, and return the image for the length of the block. folder: for images."""
    buildah = ("buildah", *storage(folder))
    make_base_image(buildah)
    options = ("--isolation", "chroot", "--network", "host", "--format", "docker", "--tag", IMAGE)
    base = ("--build-arg", f"PYTHON_IMAGE={BASE_IMAGE}")
    step(*buildah, "build", *options, *base, "--file", str(ROOT / "Dockerfile"), str(ROOT))
    step(*buildah, "from", "--name", "under-test", IMAGE)
    file_system = Path(step(*buildah, "mount", "under-test").strip())
    # Container engines write it; without it `localhost` has no address.
    (file_system / "etc/hosts").write_text("127.0.0.1 localhost\n")
    inspected = json.loads(step(*buildah, "inspect", "--type", "image", IMAGE))
    try:
        yield BuiltImage(cast(ImageConfig, inspected["Docker"]["config"]), file_system)
    finally:
        step(*buildah, "rm", "under-test")


def storage(folder: Path) -> tuple[str, ...]:
    """Return the options by which buildah and podman keep their images in folder."""
    return ("--root", f"{folder}/storage", "--runroot", f"{folder}/run", "--storage-driver", "overlay")


def make_base_image(buildah: Sequence[str]) -> None:
    """Make the image that stands for python:slim."""
    step(*buildah, "from", "--name", "base", "scratch")
    base = Path(step(*buildah, "mount", "base").strip())
    # python:slim has the headers of its Python too.
    packages = "--include=python3,python3-dev,python3-pip,ca-certificates"
    make_debian(base, packages)
    # As in python:slim, `python` is a name, and pip may install beside the system's packages.
    (base / "usr/bin/python").symlink_to("python3")
    for marker in base.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        marker.unlink()
    # The image trusts whom this machine trusts, so that downloads work in it as they do here. Python reads the one
    # file, Java's package each certificate.
    for certificate in OWN_CERTIFICATES.glob("*.crt"):
        shutil.copy(certificate, base / OWN_CERTIFICATES.relative_to("/"))
    # The folder of TMPDIR is not in it.
    step("env", "--unset=TMPDIR", "chroot", str(base), "update-ca-certificates")
    shutil.copy(CERTIFICATES, base / CERTIFICATES.relative_to("/"))
    # What was downloaded is of no more use, and would be in each layer's copy.
    for downloads in ("var/cache/apt/archives", "var/lib/apt/lists"):
        shutil.rmtree(base / downloads)
        (base / downloads / "partial").mkdir(parents=True)
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    step(*buildah, "config", "--env", f"PATH={path}", "base")
    step(*buildah, "umount", "base")
    step(*buildah, "commit", "--rm", "base", BASE_IMAGE)


def make_debian(folder: Path, packages: str) -> None:
    """Install a Debian in folder. A download that fails is tried again: the mirror drops one in some hundred."""
    command = ("debootstrap", "--variant=minbase", packages, DEBIAN, str(folder), debian_mirror())
    for _ in range(DOWNLOADS_MAX - 1):
        ran = subprocess.run(command, capture_output=True, text=True, timeout=STEP_SECONDS_MAX, check=False)
        if ran.returncode == 0:
            return
        assert "Couldn't download packages" in ran.stdout + ran.stderr, ran.stdout[-3000:] + ran.stderr[-3000:]
    step(*command)


def debian_mirror() -> str:
    """Return the URI of the Debian mirror in this machine's apt configuration."""
    listed = step("apt-get", "indextargets", "--format", "$(LABEL)|$(REPO_URI)", "Created-By: Packages")
    mirrors = [line.partition("|")[2] for line in listed.splitlines() if line.startswith("Debian|")]
    assert mirrors, "apt has no index of a Debian mirror; run apt-get update"
    return mirrors[0]


def step(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=STEP_SECONDS_MAX, check=False)
    assert result.returncode == 0, f"{' '.join(command)}:\n{result.stdout[-3000:]}{result.stderr[-3000:]}"
    return result.stdout


@contextmanager
def running(image: BuiltImage, variables: Mapping[str, str] | None = None) -> Generator[Running, None, None]:
    """Run the image's entry point and command as process 1, for the length of the block."""
    entry_point = image.command([*image.config["Entrypoint"], *image.config["Cmd"]], variables)
    # Of the two, only what is started by exec is process 1.
    script = 'ip link set lo up && exec "$@"'
    unshare = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--mount", "--net", "sh", "-c", script, "sh", *entry_point],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Running(image, unshare, wait_for_process_1(unshare))
    finally:
        # The end of process 1 ends its namespace. unshare could not do it: a process that changed its user is no longer
        # told when its parent dies, and would keep the pipes open for ever.
        if unshare.poll() is None:
            for pid in children_of(unshare) or [unshare.pid]:
                os.kill(pid, signal.SIGKILL)
        unshare.communicate()


def children_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the pids of its children; none where it has ended meanwhile."""
    try:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def words_of(pid: int) -> list[bytes]:
    """Return the command line of a process; nothing while it is between two programs, or where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def wait_for_process_1(unshare: subprocess.Popen[str]) -> int:
    """Return the pid of the entry point once the shell has become it."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and unshare.poll() is None:
        for child in children_of(unshare):
            # Behind the interpreter stands the program, once the shell and chroot have become it.
            if any(b"fauxka" in word for word in words_of(child)[1:2]):
                return child
        time.sleep(POLL_SECONDS)
    raise AssertionError(f"the entry point did not start; exit code {unshare.poll()}")


def wait_until(condition: object) -> None:
    """Return when the condition, a function, holds."""
    assert callable(condition)
    deadline = time.monotonic() + START_SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, f"not so after {START_SECONDS_MAX} s"
        time.sleep(POLL_SECONDS)


def is_root() -> bool:
    """Whether namespaces and chroots can be made."""
    return os.geteuid() == 0
