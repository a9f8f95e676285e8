"""Clients that never authenticate, on listeners with SASL: they are served nothing, and delay no other client."""

from __future__ import annotations

import pytest

from fauxka.protocol.api_keys import APIS
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.errors.response_frames import encode_response_frame
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateResponse

from .__main__ import main
from .drawn_conversations import TOPIC, Conversation, Ending, draw_conversation
from .frames import Frame
from .fuzzed_connection import WrongResponse
from .unauthenticated_run import check_responses, run_unauthenticated

METADATA, SASL_AUTHENTICATE = APIS[3], APIS[36]


def check(seed: int, frames: int) -> None:
    report = run_unauthenticated(seed, frames)

    assert report.frames >= frames
    assert report.refused > report.conversations / 4
    assert report.authenticated >= 2 * frames // 1000


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.slice), 2])
def test_clients_that_do_not_authenticate_are_served_nothing_and_harm_no_other(seed: int) -> None:
    check(seed, 5_000)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_clients_that_do_not_authenticate_are_served_nothing_and_harm_no_other(seed: int) -> None:
    check(seed, 25_000)


def conversation_of(frame: Frame) -> Conversation:
    listener = "SASL_PLAINTEXT"
    return Conversation(
        1, 0, listener, is_encrypted=False, frames=[frame], is_pipelined=False, is_bare=False, ending=Ending.LEAVE
    )


def metadata() -> Conversation:
    data = request_frame(METADATA, 9, 5, MetadataRequest(topics=[]))
    return conversation_of(Frame(1, 0, METADATA, 9, (), data, is_whole=True))


def test_served_request_is_reported() -> None:
    response = encode_response_frame(METADATA, 9, 5, MetadataResponse(cluster_id="cluster"))

    with pytest.raises(WrongResponse, match="was served"):
        check_responses(metadata(), bytes(response))


def test_hidden_name_is_reported() -> None:
    response = encode_response_frame(METADATA, 9, 5, MetadataResponse(cluster_id=TOPIC))

    with pytest.raises(WrongResponse, match="hidden name"):
        check_responses(metadata(), bytes(response))


def test_authenticated_client_is_reported() -> None:
    frame = Frame(1, 0, SASL_AUTHENTICATE, 1, (), b"\0\0\0\x0a\0\x24\0\1\0\0\0\5\xff\xff", is_whole=True)
    response = encode_response_frame(SASL_AUTHENTICATE, 1, 5, SaslAuthenticateResponse(error_message=""))

    with pytest.raises(WrongResponse, match="has authenticated"):
        check_responses(conversation_of(frame), bytes(response))


def test_response_without_a_request_is_reported() -> None:
    response = encode_response_frame(METADATA, 9, 6, MetadataResponse())

    with pytest.raises(WrongResponse, match="no request has the response"):
        check_responses(metadata(), bytes(response))


def test_a_seed_repeats_the_same_conversations() -> None:
    first, second = ([draw_conversation(7, index) for index in range(200)] for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--data-dir: True", ["--data-dir"]),
        ("--list-elements: 7", ["--list-elements", "7"]),
        ("--pause-ms: 10.0", ["--pause-ms", "10"]),
        ("--replay: 1:2", ["--replay", "1:2"]),
    ],
)
def test_option_without_effect_on_clients_that_do_not_authenticate_is_refused(
    option: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--unauthenticated", *words])

    expected = f"{option} has no effect: --unauthenticated allows --frames, --seed and --seconds\n"
    assert (ended.value.code, capsys.readouterr().err) == (2, f"python -m tests.fuzz: {expected}")
