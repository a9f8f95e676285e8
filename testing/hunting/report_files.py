"""The result of a hunt for CI: JSON, and JUnit XML with a test case for each trial.

Source: the schema of Jenkins' xunit plugin (junit-10.xsd) for elements, attributes and their order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from xml.etree import ElementTree

from .coverage import coverage_of, errors_left_out
from .finding import Finding, Hunted, Tried
from .judgement import Judgement, Outcome
from .plan import Trial

# The characters that XML 1.0 does not allow, even as references.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def json_text(result: Hunted) -> str:
    """Return the result as JSON: counts, the findings with their rules' names, and each trial with its outcome."""
    coverage = coverage_of({entry.api for entry in result.faultless.requests}, result.tried)
    fields = {
        "trials": len(result.tried),
        "planned": result.planned,
        "seconds": round(result.seconds, 3),
        "is_stopped": result.is_stopped,
        "coverage": coverage._asdict(),
        "errors_left_out": errors_left_out(result.faultless.requests, result.tried),
        "findings": [_finding(finding) for finding in result.findings],
        "tried": [_judged(each.trial, each.judgement) for each in result.tried],
    }
    return json.dumps(fields, indent=1) + "\n"


def _finding(finding: Finding) -> Mapping[str, object]:
    return {
        **_judged(finding.trial, finding.judgement),
        "confirmed": finding.confirmed,
        "runs": finding.runs,
        "found_seconds": None if finding.found_seconds is None else round(finding.found_seconds, 3),
        "others": [str(other) for other in finding.others],
        "output": finding.judgement.evidence.output,
    }


def _judged(trial: Trial, judgement: Judgement) -> dict[str, object]:
    return {
        "faults": [{"name": fault.name, "request": str(target)} for fault, target in trial.faults],
        "outcome": judgement.outcome.value,
        "reasons": list(judgement.reasons),
    }


def junit_text(result: Hunted) -> str:
    """Return the result as JUnit XML: a finding is a failure, and a trial that was not judged is an error."""
    root = ElementTree.Element("testsuites", name="fauxka hunt")
    suite = ElementTree.SubElement(root, "testsuite", name="fauxka hunt")
    for each in result.tried:
        _add_case(suite, each)
    outcomes = [each.judgement.outcome for each in result.tried]
    for element in (suite, root):
        element.set("tests", str(len(result.tried)))
        element.set("failures", str(sum(each.judgement.is_finding for each in result.tried)))
        element.set("errors", str(outcomes.count(Outcome.NOT_JUDGED)))
        element.set("time", f"{result.seconds:.3f}")
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_case(suite: ElementTree.Element, tried: Tried) -> None:
    apis = "+".join(target.api for _, target in tried.trial.faults)
    case = ElementTree.SubElement(suite, "testcase", classname=f"hunt.{apis}", name=_text(str(tried.trial)))
    reasons = _text("; ".join(tried.judgement.reasons))
    if tried.judgement.is_finding:
        ElementTree.SubElement(case, "failure", message=reasons, type=tried.judgement.outcome.value)
    elif tried.judgement.outcome is Outcome.NOT_MET:
        ElementTree.SubElement(case, "skipped", message=reasons)
    elif tried.judgement.outcome is Outcome.NOT_JUDGED:
        ElementTree.SubElement(case, "error", message=reasons, type=tried.judgement.outcome.value)


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
