"""Sends drawn and changed requests to a broker.

    python -m tests.fuzz --frames 50000 [--seed S] [--seconds T] [--data-dir]
    python -m tests.fuzz --unauthenticated [--frames N] [--seed S] [--seconds T]
    python -m tests.fuzz --replay SEED:INDEX
    python -m tests.fuzz --replay FILE

A replay sends one frame of a seed, or the frames of a file, one by one to a new broker.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from .frames import LONG_LIST_ELEMENTS, draw_frame
from .fuzz_run import PAUSE_MS_MAX, FuzzFailure, FuzzOptions, create_world, fuzzed_broker, run_fuzzer
from .resent_frames import Resender
from .unauthenticated_run import run_unauthenticated

# Options that have no effect on clients that never authenticate.
NOT_WITH_UNAUTHENTICATED = ("data_dir", "list_elements", "pause_ms", "replay")


def main(words: Sequence[str] | None = None) -> int:
    """Run, and return the exit code. words: the arguments, by default those of the process. Raises SystemExit."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--seed", type=int, help="by default another one with every run")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long, with fewer frames")
    parser.add_argument("--data-dir", action="store_true", help="give the broker a data folder")
    parser.add_argument("--list-elements", type=int, default=LONG_LIST_ELEMENTS, help="of the longest lists")
    parser.add_argument("--pause-ms", type=float, default=PAUSE_MS_MAX, help="the longest pause of the event loop")
    parser.add_argument("--replay", metavar="SEED:INDEX|FILE", help="send one frame, or the frames of a file")
    parser.add_argument("--unauthenticated", action="store_true", help="by clients on listeners with SASL")
    arguments = parser.parse_args(words)
    if arguments.unauthenticated:
        for name in NOT_WITH_UNAUTHENTICATED:
            if (value := getattr(arguments, name)) != parser.get_default(name):
                option = f"--{name.replace('_', '-')}"
                allowed = "--unauthenticated allows --frames, --seed and --seconds"
                parser.exit(2, f"{parser.prog}: {option}: {value} has no effect: {allowed}\n")
    if arguments.replay is not None:
        return replay(arguments.replay, is_on_disk=arguments.data_dir, long_list_elements=arguments.list_elements)
    seed = time.time_ns() // 1_000_000 if arguments.seed is None else arguments.seed
    options = FuzzOptions(
        seed=seed,
        frames=arguments.frames,
        seconds=arguments.seconds,
        is_on_disk=arguments.data_dir,
        long_list_elements=arguments.list_elements,
        pause_ms_max=arguments.pause_ms,
    )
    try:
        if arguments.unauthenticated:
            print(*run_unauthenticated(seed, arguments.frames, arguments.seconds).lines(), sep="\n")
        else:
            print(*run_fuzzer(options).lines(), sep="\n")
    except FuzzFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def replay(text: str, *, is_on_disk: bool, long_list_elements: int) -> int:
    """Send one frame of a seed, or the frames of a file, and print what each does. Return 1 if one is at fault."""
    failures = 0
    with fuzzed_broker(is_on_disk=is_on_disk) as (server, _), closing(Resender(server)) as resender:
        world = create_world(server.address)
        seed, _, index = text.partition(":")
        if seed.isdigit() and index.isdigit():
            frame = draw_frame(int(seed), int(index), world, long_list_elements)
            frames = [(str(frame), frame.data)]
        else:
            lines = [json.loads(line) for line in Path(text).read_text().splitlines()]
            frames = [(str(line["frame"]), bytes.fromhex(line["data"])) for line in lines]
        for name, data in frames:
            resent = resender.resend(data)
            end = "closed" if resent.is_closed else "no response" if resent.received is None else "response"
            print(f"{name}: {end}, pause {resent.pause_ms:.0f} ms")
            if len(frames) == 1:
                print(f"sent {data.hex()}", f"received {(resent.received or b'').hex()}", sep="\n")
            if resent.error is not None:
                print(resent.error)
            failures += resent.error is not None or resent.pause_ms > PAUSE_MS_MAX
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
