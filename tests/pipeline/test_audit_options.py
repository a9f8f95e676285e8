"""--since, --until and --fail-on: each bad value is one line that says what is allowed."""

from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.finding_kinds import ALL_KINDS, parse_fail_on
from fauxka.pipeline.checks.range_options import is_first_run, range_options

NOW_MS = 1_767_268_800_000
DAY_MS = 86_400_000


@pytest.fixture
def offsets(tmp_path: Path) -> Path:
    file = tmp_path / "offsets.json"
    file.write_text('{"orders": {"0": 5}}\n')
    return file


def test_times_are_options_of_the_data_source() -> None:
    assert range_options("1d", "2026-01-01T12:00:00Z", NOW_MS) == {
        "startingTimestamp": str(NOW_MS - DAY_MS),
        "endingTimestamp": str(NOW_MS),
        "startingOffsetsByTimestampStrategy": "latest",
    }
    assert range_options(None, None, NOW_MS) == {}


def test_files_of_offsets_are_options_of_the_data_source(offsets: Path) -> None:
    assert range_options(str(offsets), str(offsets), NOW_MS) == {
        "startingOffsets": offsets.read_text(),
        "endingOffsets": offsets.read_text(),
    }
    assert not is_first_run(str(offsets), NOW_MS)


def test_files_of_offsets_may_be_uris(offsets: Path) -> None:
    assert range_options(f"file://{offsets}", None, NOW_MS) == {"startingOffsets": offsets.read_text()}
    assert not is_first_run(f"file:{offsets}", NOW_MS)


def test_a_since_file_that_does_not_exist_yet_is_the_beginning(tmp_path: Path) -> None:
    absent = str(tmp_path / "offsets.json")

    assert range_options(absent, None, NOW_MS) == {"startingOffsets": "earliest"}
    assert is_first_run(absent, NOW_MS)


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [
        (
            "noon",
            None,
            "since: must be a time such as 2026-01-31T12:00:00Z, milliseconds since 1970, a duration such as",
        ),
        (None, "absent.json", "until: must be a time such as"),
        ("1h", "2h", "until: 2h is not later than since: 1h"),
        ("{folder}/text.json", None, "since: {folder}/text.json must contain JSON such as "),
        ("{folder}/earliest.json", None, "since: {folder}/earliest.json must contain JSON such as "),
        ("{folder}/deep.json", None, "since: {folder}/deep.json must contain JSON such as "),
        ("{folder}/bytes.json", None, "since: {folder}/bytes.json cannot be read: it is not text"),
    ],
)
def test_a_bad_range_is_one_line(tmp_path: Path, since: str | None, until: str | None, words: str) -> None:
    (tmp_path / "text.json").write_text('{"orders": [5]}')
    (tmp_path / "earliest.json").write_text("earliest")
    (tmp_path / "deep.json").write_text('{"orders": ' + "[" * 100_000)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xff")
    since = None if since is None else since.format(folder=tmp_path)

    with pytest.raises(BadOption) as raised:
        range_options(since, until, NOW_MS)

    assert str(raised.value).startswith(words.format(folder=tmp_path))
    assert "\n" not in str(raised.value)


def test_fail_on_names_kinds_or_none() -> None:
    assert parse_fail_on("lost, duplicate") == {"lost", "duplicate"}
    assert parse_fail_on("none") == frozenset()


@pytest.mark.parametrize("text", ["", "copies", "lost,", "none,lost"])
def test_an_unknown_kind_is_one_line_with_all_kinds(text: str) -> None:
    with pytest.raises(BadOption) as raised:
        parse_fail_on(text)

    assert str(raised.value).startswith("fail-on: must be none, or some of aborted_transaction, ")
    assert set(ALL_KINDS) <= set(str(raised.value).replace(",", "").split())
