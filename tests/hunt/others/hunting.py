"""The hunt of a program of tests/ecosystem."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from fauxka.testing import Broker
from fauxka.testing.hunting.arguments import How, options_of
from fauxka.testing.hunting.budget import Budget
from fauxka.testing.hunting.functions import CheckFunction, Function
from fauxka.testing.hunting.hunt_program import hunt_program
from fauxka.testing.hunting.progress import ShowProgress
from fauxka.testing.hunting.result import Result

from .programs import Other
from .starts import Folders

# Started again so often after it has ended by itself, as by a supervisor.
RESTARTS = 2
BUDGET = Budget(seconds=300)


def hunted(other: Other, how: How, show: ShowProgress | None = None) -> Result:
    """Hunt a program. how: beside, and before, that of the program."""
    startable = other.install()
    with TemporaryDirectory(prefix="fauxka-others-", ignore_cleanup_errors=True) as root:
        folders = Folders(Path(root))

        def run(broker: Broker) -> None:
            other.run(startable, broker, folders.of(broker))

        try:
            with Broker() as broker:
                # What is slow in a first start only is no part of a trial.
                prepare = other.how.get("prepare")
                if prepare is not None:
                    prepare(broker)
                run(broker)
            check = None if other.check is None else CheckFunction(other.check)
            options = options_of({"restarts": RESTARTS, **other.how, **how}, check, BUDGET)
            return hunt_program(Function(run), options, show)
        finally:
            startable.end()
