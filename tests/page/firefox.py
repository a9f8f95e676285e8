"""Drives an installed Firefox by Marionette, its built-in protocol: messages of JSON, each after its length."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIREFOX = "firefox"
# The port is free, and in a file of the profile. Errors of scripts are written to the output.
SETTINGS = {"marionette.port": 0, "browser.dom.window.dump.enabled": True}
PORT_FILE = "MarionetteActivePort"
# Only a hang reaches these limits.
START_SECONDS_MAX = 120
SHOWN_MS_MAX = 60_000
POLL_SECONDS = 0.05
# In the response to WebDriver:FindElement.
ELEMENT_KEY = "element-6066-11e4-a52e-4f735466cecf"


class Firefox:
    """A window of Firefox. An element is named by a CSS selector."""

    def __init__(self, port: int, output: Path, origin: str) -> None:
        """output: of the process. origin: of the scripts whose errors are wanted."""
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS_MAX)
        self._stream = self._socket.makefile("rb")
        self._output = output
        self._origin = origin
        self._calls = 0
        self._read()
        self._call("WebDriver:NewSession", capabilities={})
        self._call("WebDriver:SetTimeouts", implicit=SHOWN_MS_MAX)

    def open(self, url: str) -> None:
        """Open an address, and wait until it is loaded."""
        self._call("WebDriver:Navigate", url=url)

    def wait_for(self, selector: str) -> str:
        """Wait for an element and return its id. Raises AssertionError if there is none."""
        found = self._call("WebDriver:FindElement", using="css selector", value=selector)
        element: str = found["value"][ELEMENT_KEY]
        return element

    def click(self, selector: str) -> None:
        """Wait for an element and click it."""
        self._call("WebDriver:ElementClick", id=self.wait_for(selector))

    def text_of(self, selector: str) -> str:
        """Wait for an element and return its text."""
        text: str = self._call("WebDriver:GetElementText", id=self.wait_for(selector))["value"]
        return text

    def run(self, script: str) -> object:
        """Run a script in the page, and return what it returns."""
        return self._call("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def wait_until_title(self, title: str) -> None:
        """Wait until the page has a title."""
        while self._call("WebDriver:GetTitle")["value"] != title:
            time.sleep(POLL_SECONDS)

    def errors(self) -> list[str]:
        """Return the errors of the page's scripts."""
        lines = self._output.read_text("utf-8", errors="replace").splitlines()
        return [line for line in lines if "JavaScript error" in line and self._origin in line]

    def quit(self) -> None:
        """End Firefox."""
        self._call("Marionette:Quit", flags=["eForceQuit"])
        self._stream.close()
        self._socket.close()

    def _call(self, name: str, **parameters: object) -> Any:
        self._calls += 1
        message = json.dumps([0, self._calls, name, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._read()
        assert error is None, f"{name} {parameters}: {error['message']}"
        return result

    def _read(self) -> Any:
        size = b""
        while (digit := self._stream.read(1)) != b":":
            assert digit, "Firefox has closed the connection"
            size += digit
        return json.loads(self._stream.read(int(size)))


@contextmanager
def firefox(folder: Path, origin: str) -> Generator[Firefox]:
    """Start Firefox with a new profile in a folder. origin: of the scripts whose errors are wanted."""
    profile = folder / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in SETTINGS.items()]
    (profile / "user.js").write_text("\n".join(lines))
    output = folder / "firefox.log"
    command = [FIREFOX, "--marionette", "--headless", "--no-remote", "--profile", str(profile)]
    with output.open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, "HOME": str(folder)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        started = Firefox(_port_of(process, profile / PORT_FILE), output, origin)
        yield started
        started.quit()
        process.wait(START_SECONDS_MAX)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _port_of(process: subprocess.Popen[bytes], port_file: Path) -> int:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not (port_file.exists() and port_file.read_text()):
        assert process.poll() is None, f"Firefox has ended with {process.returncode}"
        assert time.monotonic() < deadline, f"no port of Firefox after {START_SECONDS_MAX} s"
        time.sleep(POLL_SECONDS)
    return int(port_file.read_text())
