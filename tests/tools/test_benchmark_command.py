"""The command line of the benchmarks."""

from collections.abc import Mapping

import pytest

from benchmarks import __main__ as command
from benchmarks.measurement import Figures


@pytest.mark.parametrize("names", [[], ["decoder"]])
def test_another_checkout_is_refused_beside_parts_that_do_not_use_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], names: list[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "--pipeline", *names, "--against", "/elsewhere"])
    monkeypatch.setattr(command, "run", no_figures)

    with pytest.raises(SystemExit) as ended:
        command.main()

    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(
        "error: --against /elsewhere: with --pipeline the names must contain scale\n"
    )


def no_figures(arguments: object) -> Mapping[str, Figures]:
    return {}
