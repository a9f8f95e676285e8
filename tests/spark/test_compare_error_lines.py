"""Error lines of `fauxka compare` name the option, and no password."""

import subprocess
import sys

import pytest

# The command checks these arguments when pyspark is there, and starts no session.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

SECRET_PLACE = "jdbc:postgresql://bob:hunter2@h/shop?user=a&password=hunter2"


@pytest.mark.parametrize("module", ["fauxka", "fauxka.pipeline"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (SECRET_PLACE, "b"),
            "left-option: jdbc:postgresql:...@h/shop?user=a&password=... needs dbtable",
        ),
        (("a", "b", SECRET_PLACE), "jdbc:postgresql:...@h/shop?user=a&password=..."),
        ((".", ".", "--left-offset-columns", "o"), "left-offset-columns: must be the columns TOPIC,"),
        ((".", ".", "--offset-columns", "o"), " offset-columns: must be the columns TOPIC,"),
        (("--expect", "token=hunter2", "a", "b"), "token=..."),
    ],
)
def test_an_error_line_names_its_option_and_no_password(module: str, arguments: tuple[str, ...], words: str) -> None:
    ended = subprocess.run([sys.executable, "-m", module, "compare", *arguments], capture_output=True, text=True)

    assert ended.returncode == 2
    assert words in ended.stderr
    assert "hunter2" not in ended.stderr + ended.stdout
