"""The operations on files in a row: each has a number, and some of them go wrong."""

from __future__ import annotations

from fauxka.faults.files.operation_kind import OperationKind, os_error

from .file_fault_rules import Effect, Fail, FileFaultPlan, Stop, Tear


class MachineStopped(BaseException):
    """The machine of the files has stopped: nothing more happens to them, whoever tries.

    Not an Exception, so that nothing that handles errors goes on after it.
    """


class FileOperations:
    """Counts the operations, and asks the plan about each.

    plan: what goes wrong; rules may be added and lifted at any time.
    count: how many operations were asked for; the next one has this number, counted from 0.
    """

    def __init__(self) -> None:
        """Start without rules: nothing goes wrong."""
        self.plan = FileFaultPlan()
        self.count = 0
        self.is_stopped = False

    def stop(self) -> None:
        """Stop the machine: raises MachineStopped, as every operation does from now on."""
        self.is_stopped = True
        raise MachineStopped

    def check_running(self) -> None:
        """Raise MachineStopped if the machine has stopped."""
        if self.is_stopped:
            raise MachineStopped

    def decide(self, kind: OperationKind, path: str) -> Effect | None:
        """Count an operation, and return what goes wrong with it."""
        self.check_running()
        self.count += 1
        return self.plan.decide(kind, path)

    def begin(self, kind: OperationKind, path: str) -> Effect | None:
        """Count an operation, and return what goes wrong with it once it has begun; raises what goes wrong before."""
        effect = self.decide(kind, path)
        if isinstance(effect, Fail):
            raise os_error(effect.error_number, path)
        if effect == Stop(is_done=False):
            self.stop()
        return effect

    def end(self, effect: Effect | None, path: str) -> None:
        """Do what goes wrong after an operation was done, or was torn."""
        then = effect.then if isinstance(effect, Tear) else effect
        if isinstance(then, Stop):
            self.stop()
        if isinstance(then, Fail):
            raise os_error(then.error_number, path)

    def check_read(self, path: str) -> None:
        """Raise what goes wrong with a read; reads have no number."""
        self.check_running()
        effect = self.plan.decide(OperationKind.READ, path)
        self.end(effect, path)
