"""Says in a sentence where a body is not JSON, and what is expected there."""

from __future__ import annotations

import json

# What Python's parser expects, in words. Its other messages stay as they are.
_EXPECTED = {
    "Expecting value": "a value",
    "Expecting property name enclosed in double quotes": "a field name in double quotes",
    "Expecting ':' delimiter": "a colon",
    "Expecting ',' delimiter": "a comma or the closing bracket",
    "Illegal trailing comma before end of object": "no comma before the closing bracket",
    "Illegal trailing comma before end of array": "no comma before the closing bracket",
    "Extra data": "the end of the body",
    "Unterminated string starting at": "a closing quote for the text that starts here",
    "Invalid control character at": "an escape in place of a control character",
}
_CHARACTERS_SHOWN = 20


def describe_syntax_error(data: bytes, reason: str) -> str:
    """Return what is wrong with a body that is not JSON, with the line and the column, both counted from 1.

    reason: used if Python's parser accepts the body, for example because a number is too large for ours.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"byte {data[error.start]:#04x} at position {error.start} is not UTF-8"
    try:
        document: object = json.loads(text, parse_constant=_refuse_constant, parse_int=len)
        json.dumps(document, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        expected = _EXPECTED.get(error.msg)
        place = f"at line {error.lineno}, column {error.colno}"
        if expected is None:
            return f"{error.msg[:1].lower()}{error.msg[1:].rstrip(': ')} {place}"
        return f"expected {expected} {place}, got {_found(text[error.pos :])}"
    except UnicodeEncodeError:
        return "a text has half of a surrogate pair, an escape from \\ud800 to \\udfff"
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return reason.partition(" - at ")[0]


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number of JSON")


def _found(rest: str) -> str:
    if not rest:
        return "the end of the body"
    line = rest.splitlines()[0] or rest[:1]
    return json.dumps(line if len(line) <= _CHARACTERS_SHOWN else line[:_CHARACTERS_SHOWN] + "...", ensure_ascii=False)
