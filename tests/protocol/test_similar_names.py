import pytest

from fauxka.protocol.similar_names import find_similar, suggestion

SCOPES = ("faults", "journal", "data", "all")


@pytest.mark.parametrize(
    ("name", "names", "similar"),
    [
        ("al", SCOPES, "all"),
        ("fault", SCOPES, "faults"),
        ("PRODUCE", ("Produce", "Fetch"), "Produce"),
        ("lost-ack", ("lost_ack", "lost_request"), "lost_ack"),
        ("num.partition", ("num.partitions", "num.io.threads"), "num.partitions"),
        ("orders", (), None),
        ("zzz", SCOPES, None),
        ("", SCOPES, None),
    ],
)
def test_similar_name_is_found_whatever_its_case_and_separators(
    name: str, names: tuple[str, ...], similar: str | None
) -> None:
    assert find_similar(name, names) == similar


def test_suggestion_is_the_end_of_a_message() -> None:
    assert [suggestion(name, SCOPES) for name in ("al", "zzz", "all", 5)] == ["; did you mean all?", "", "", ""]
