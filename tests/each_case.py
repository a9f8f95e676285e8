"""Many cases of one behaviour in one test, which fails with the name and the error of each case that fails.

pytest, and each process of a run, collects every item of a parametrized test. `each_case` is for more than fifty cases:
one item has them all. FAUXKA_TEST_CASE=TEXT runs the cases with TEXT in their names, and stops at the first error.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from textwrap import indent
from traceback import format_exception_only
from typing import Concatenate, ParamSpec, TypeVar

import pytest

CASE_VARIABLE = "FAUXKA_TEST_CASE"
# A comparison of two long values has hundreds of lines. FAUXKA_TEST_CASE shows them all.
ERROR_LINES_MAX = 30

Case = TypeVar("Case")
Fixtures = ParamSpec("Fixtures")


def each_case(
    cases: Iterable[Case] | Callable[[], Iterable[Case]], name: Callable[[Case], str] = str
) -> Callable[[Callable[Concatenate[Case, Fixtures], None]], Callable[Fixtures, None]]:
    """Decorate a test that takes a case as its first argument, and fixtures behind it.

    cases: or what returns them when the test runs, if to make them takes long.
    """

    def of_all_cases(test: Callable[Concatenate[Case, Fixtures], None]) -> Callable[Fixtures, None]:
        @wraps(test)
        def run(*args: Fixtures.args, **fixtures: Fixtures.kwargs) -> None:
            chosen = cases() if callable(cases) else cases
            check_each([(name(case), case) for case in chosen], lambda case: test(case, *args, **fixtures))

        _, *of_fixtures = signature(test).parameters.values()
        vars(run)["__signature__"] = signature(test).replace(parameters=of_fixtures)
        return run

    return of_all_cases


def check_each(
    cases: Iterable[tuple[str, Case]], check: Callable[[Case], None], different: Mapping[str, str] | None = None
) -> None:
    """Call check with each case, and fail with the name and the error of each case whose check raises.

    different: the reasons of cases, by name, whose check must raise.
    """
    wanted = os.environ.get(CASE_VARIABLE, "")
    chosen = [(name, case) for name, case in cases if wanted in name]
    if not chosen:
        pytest.skip(f"no case has {wanted!r} in its name")
    failed: list[str] = []
    for name, case in chosen:
        error = _error_of(check, case)
        reason = (different or {}).get(name)
        if reason is not None:
            failed += [] if error else [f"{name}\n    is not different, in spite of: {reason}"]
        elif error is not None:
            if wanted:
                raise error
            failed.append(f"{name}\n{_text_of(error)}")
    if failed:
        pytest.fail(f"{len(failed)} of {len(chosen)} cases:\n\n" + "\n".join(failed), pytrace=False)


def _error_of(check: Callable[[Case], None], case: Case) -> BaseException | None:
    try:
        check(case)
    except (Exception, pytest.fail.Exception) as error:
        return error
    return None


def _text_of(error: BaseException) -> str:
    lines = "".join(format_exception_only(error)).splitlines()
    if len(lines) > ERROR_LINES_MAX:
        lines[ERROR_LINES_MAX:] = [f"... and {len(lines) - ERROR_LINES_MAX} lines"]
    return indent("\n".join(lines), "    ")
