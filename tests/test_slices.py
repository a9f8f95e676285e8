"""`make test-slices` reads only the files that name the mark, in place of all tests in each of its processes."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent


def test_mark_of_a_slice_is_in_the_file_of_its_tests() -> None:
    naming = [path for path in TESTS.rglob("*.py") if "mark.slice" in path.read_text() or '("slice' in path.read_text()]

    assert [path for path in naming if not path.name.startswith("test_")] == []
    assert len(naming) > 50
