"""The files of a finding: rules, calls of the admin API, a test, a run's timeline, and what the program printed."""

from __future__ import annotations

import json
import shlex
from errno import EEXIST, ENOTEMPTY
from pathlib import Path

from ...storage.file_systems.own_folder import delete_own_folder, replace_file
from .changes import change_of
from .finding import Finding
from .generated_test import text_of_test
from .options import Options
from .program import Program

RULES_FILE = "rules.json"
# With the number of the finding: pytest imports no two modules of the same name.
TEST_FILE = "test_finding_{}.py"
CALLS_FILE = "curl.sh"
RUN_FILE = "run.html"
OUTPUT_FILE = "output.txt"


def write_finding(folder: Path, finding: Finding, program: Program, options: Options) -> None:
    """Write the files of a finding to its folder, which has its number as its name. Raises OSError."""
    if folder.is_symlink():
        raise FileExistsError(EEXIST, "it is a link", str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    rules = finding.rules
    calls = [f"# {rule.name}, while the request is held" for rule in finding.trial.rules if change_of(rule)]
    calls += [f"curl -s $A/v1/rules -d {shlex.quote(json.dumps(rule))}" for rule in rules]
    texts = {
        RULES_FILE: f"{json.dumps(rules, indent=1)}\n",
        CALLS_FILE: "\n".join(["A=$(fauxka admin)", *calls]) + "\n",
        TEST_FILE.format(folder.name): text_of_test(finding, program, options),
        OUTPUT_FILE: finding.judgement.evidence.output,
        RUN_FILE: finding.timeline,
    }
    for name, text in texts.items():
        if text:
            # A word of a command may be no text.
            replace_file(folder / name, text.encode("utf-8", "backslashreplace"))


def remove_findings(folder: Path) -> None:
    """Remove the files of an earlier hunt's findings. Raises OSError."""
    for rules_file in folder.glob(f"*/{RULES_FILE}"):
        of_finding = rules_file.parent
        if not of_finding.name.isdecimal() or of_finding.is_symlink():
            continue
        own = {RULES_FILE, TEST_FILE.format(of_finding.name), CALLS_FILE, RUN_FILE, OUTPUT_FILE}
        try:
            delete_own_folder(of_finding, own.__contains__)
        except OSError as error:
            # A person keeps something there.
            if error.errno != ENOTEMPTY:
                raise
