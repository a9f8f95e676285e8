"""What Kafka's own classes answer to a request that fails as a whole, for every API and version that is served.

python -m tests.golden.capture_error_answers writes error_answers-4.3.0.jsonl anew, by ErrorAnswers.java and Kafka's
jars (AbstractRequest.parseRequest, then getErrorResponse(0, exception)); no broker is started.
error_answers-3.9.1.jsonl has the versions that Kafka 4.0 dropped, error_answers-4.4.0.jsonl those new in Kafka 4.4.

Three requests a version: "full", with two of everything that is a list and a value in every field; "repeated", with the
same one twice; "bare", with nothing in it but what must be. The first line holds the text of every error.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

from fauxka.protocol.api_keys import APIS, Api
from fauxka.protocol.apis.api import Release
from fauxka.protocol.message_types import request_type
from fauxka.protocol.primitives import ZERO_UUID, Writer

from ..messages import is_message_class
from ..reference.kafka_process import reference_jars

FOLDER = Path(__file__).parent
# A file has the versions that no file before it has.
RELEASES: dict[str, Release] = {"4.3.0": (4, 3), "3.9.1": (3, 9), "4.4.0": (4, 4)}

NOT_LEADER_OR_FOLLOWER = 6
CODES = {
    "full": [NOT_LEADER_OR_FOLLOWER, -1, 35],
    "repeated": [NOT_LEADER_OR_FOLLOWER],
    "bare": [NOT_LEADER_OR_FOLLOWER],
}

ELEMENTS = 2
# The names of fields that tell elements of a list apart: they count, other numbers are all the same.
KEY_FIELDS = {"index", "partition", "partition_index", "partition_id", "producer_id"}
# Of Kafka's enumerations that it checks when it reads (operations, patterns, types), 3 is always one.
NUMBER = 3


def full_value(hint: Any, name: str, position: int, step: int) -> Any:
    """Return a value for a field of this type.

    position: of the element that it is in; step: how far the elements of a list are apart, 0 for all the same.
    """
    choices = [each for each in get_args(hint) if each is not type(None)] if type(None) in get_args(hint) else [hint]
    (kind,) = choices
    if get_args(kind):
        (element,) = get_args(kind)
        numbers = [number * step for number in range(ELEMENTS)]
        return numbers if element is int else [full_value(element, name, number, step) for number in numbers]
    if is_message_class(kind):
        return full_message(kind, position, step)
    if kind is str:
        return f"{name[:9]}-{position}"
    if kind is bytes:
        return bytes([position + 1]) * len(ZERO_UUID) if name.endswith("_id") else b"\x01"
    if kind is int:
        return position if name in KEY_FIELDS else NUMBER
    return kind(1)


def full_message(message_type: Any, position: int = 0, step: int = 1) -> Any:
    """Return a message with a value in every field."""
    hints = get_type_hints(message_type)
    defaults = message_type()
    values = {name: full_value(hints[name], name, position, step) for name in message_type.__slots__}
    for name in values:
        if hints[name] is bytes and getattr(defaults, name) == ZERO_UUID:
            values[name] = bytes([position + 1]) * len(ZERO_UUID)
    return message_type(**values)


def bare_message(message_type: Any, version: int) -> Any:
    """Return a message of defaults, null in every list that may be null in this version."""
    message = message_type()
    for name, hint in get_type_hints(message_type).items():
        arguments = [get_args(each) for each in get_args(hint)]
        if any(arguments) and type(None) in get_args(hint):
            kept = getattr(message, name)
            setattr(message, name, None)
            try:
                message.write(Writer(), version)
            except ValueError:
                setattr(message, name, kept)
    return message


def samples(api: Api, version: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and body of each sample request."""
    message_type = request_type(api)
    messages = {
        "full": full_message(message_type),
        "repeated": full_message(message_type, step=0),
        "bare": bare_message(message_type, version),
    }
    for name, message in messages.items():
        writer = Writer()
        message.write(writer, version)
        yield name, writer.getvalue()


def file_of(kafka_version: str) -> Path:
    """Return the golden file of a version of Kafka."""
    return FOLDER / f"error_answers-{kafka_version}.jsonl"


def versions_in(api: Api, kafka_version: str) -> list[int]:
    """Return the versions of an API in a golden file: all that no file before it has."""
    releases = list(RELEASES.values())
    before = releases[: list(RELEASES).index(kafka_version)]
    others = {version for release in before for version in api.versions.in_release(release)}
    return [version for version in api.versions.in_release(RELEASES[kafka_version]) if version not in others]


def questions(kafka_version: str) -> Iterator[dict[str, Any]]:
    """Yield every question for the Java program."""
    for api in APIS.values():
        for version in versions_in(api, kafka_version):
            for sample, body in samples(api, version):
                yield {
                    "api": api.name,
                    "api_key": int(api.key),
                    "version": version,
                    "sample": sample,
                    "request": base64.b64encode(body).decode(),
                    "codes": CODES[sample],
                }


def main() -> None:
    """Write the golden files."""
    for kafka_version in RELEASES:
        _write(kafka_version)


def _write(kafka_version: str) -> None:
    asked = list(questions(kafka_version))
    lines = "".join(json.dumps(question) + "\n" for question in [{"messages": True}, *asked])
    program = ["java", "-cp", f"{reference_jars(kafka_version)}/*", str(FOLDER / "ErrorAnswers.java")]
    answers = subprocess.run(program, input=lines, check=True, capture_output=True, text=True).stdout.splitlines()
    with file_of(kafka_version).open("w") as output:
        output.write(json.dumps({"messages": json.loads(answers[0])}) + "\n")
        for question, answer in zip(asked, answers[1:], strict=True):
            case = {key: question[key] for key in ("api", "version", "sample", "request")}
            output.write(json.dumps({**case, "answers": json.loads(answer)}) + "\n")


if __name__ == "__main__":
    main()
