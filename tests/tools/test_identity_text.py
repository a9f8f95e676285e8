"""tools/identity_text.py: names of clients are treated as Java does."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

TOOL = Path(__file__).resolve().parent.parent.parent / "tools" / "identity_text.py"


def check(*arguments: str) -> tuple[int, str]:
    ended = subprocess.run([sys.executable, str(TOOL), *arguments], check=False, capture_output=True, text=True)
    return ended.returncode, ended.stderr


def test_product_has_no_such_place() -> None:
    assert check() == (0, "")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("principal.strip()", "strip without an argument"),
        ("text.split()", "split without an argument"),
        ("text.splitlines()", "splitlines takes all of Unicode"),
        ("text.isdigit()", "isdigit takes all of Unicode"),
        ('text.lower() == "true"', "lower in a comparison"),
        ("a != b.upper()", "upper in a comparison"),
        ('name.encode(errors="replace")', "encode makes different texts equal"),
        ('data.decode("utf-8", "ignore")', "decode makes different texts equal"),
        (r're.compile(r"a\s*b")', "an expression with a class of Unicode, without re.ASCII"),
        (r're.split(f"{x}\\d", text, flags=re.DOTALL)', "an expression with a class of Unicode, without re.ASCII"),
        ("import unicodedata", "unicodedata is imported"),
        ("from stringprep import in_table_a1", "stringprep is imported"),
    ],
)
def test_function_of_python_is_found(tmp_path: Path, code: str, problem: str) -> None:
    file = tmp_path / "module.py"
    file.write_text(f"# A comment.\n{code}\n")

    assert check(str(file)) == (1, f"{file}:2: {problem}\n")


@pytest.mark.parametrize(
    "code",
    [
        "trim(principal)",
        'text.strip("[]")',
        'text.split(",")',
        "prefix = name.lower()",
        'data.decode(errors="backslashreplace")',
        r're.compile(r"a\s*b", re.ASCII)',
        r're.compile(rb"\s")',
        r're.compile(r"a\\s")',
    ],
)
def test_other_code_is_not_found(tmp_path: Path, code: str) -> None:
    file = tmp_path / "module.py"
    file.write_text(f"{code}\n")

    assert check(str(file)) == (0, "")
