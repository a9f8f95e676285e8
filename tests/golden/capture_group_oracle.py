"""Writes group_oracle-4.3.0.jsonl anew: what Kafka's own classes make of hashes, expressions, assignments and records.

python -m tests.golden.capture_group_oracle draws the questions, with a fixed seed, and asks GroupOracle.java.
"""

import base64
import json
import random
import subprocess
from pathlib import Path

from ..reference.kafka_process import reference_jars

FOLDER = Path(__file__).parent
FILE = FOLDER / "group_oracle-4.3.0.jsonl"
SEED = 848
SECONDS_MAX = 120

HASHED_LENGTHS = (
    *range(0, 18),
    *(31, 32, 33, 64, 65, 96, 97, 127, 128, 129, 143, 144, 160, 239, 240, 241, 255, 256, 512),
    *(1024, 1025, 1087, 1088, 1089, 2048, 2049, 5000),
)

_NAMES_TEXT = (
    ",a,b,ab,abc,A,aB,k,K,s,S,foo,foo-1,foo.bar,foo_bar,a-b,a.b,1,12,x9,aaa,abab,-,_,.,orders-eu,ORDERS,a1b2c3"
)
NAMES = tuple(_NAMES_TEXT.split(","))
EXPRESSION_COUNT = 1_000
EXPRESSION_PARTS_MAX = 6
# What expressions are put together of, right or wrong.
_PARTS_TEXT = r"""
    a b c foo 1 - _ \. . [a-c] [^a] [[:alpha:]] [[:^digit:]] [[:foo:]] [:alpha:] \d \D \w \W \s \pL \p{Lu} \P{Ll}
    \p{^Lu} \p{Greek} \p{Latin} \p{Common} \p{Nope} \p \p{L \b \B \A \z \Z ^ $ ( (?: (?i) (?i: (?-i) (?s-m) (?P<n> (?<m>
    (?P<1> (?P<n (?P=n) (?= (?! (?# ) ) | * + ? *? +? ?? {2} {1,2} {,2} {2,1} {1001} {0,3} {01} {999999999} { } [ ] []a]
    [^]] [a- [b-a] [a\-c] [\d-z] [\w.] [a-\d] \ \x41 \x{61} \x{110000} \xg \101 \0 \1 \8 \Q \E \Qa.b\E \C \n \e
    k s K (?i)k [[:alpha:]-z] [-a] [a-] (?U) (?m)^ (?x) (?) (?-) (?i-) [^\n] \pN - &&
"""
# Letters beyond ASCII that differ from k and s in case only.
_KELVIN_SIGN, _LONG_S = "\u212a", "\u017f"
EXPRESSION_PARTS = (
    *_PARTS_TEXT.split(),
    *(_KELVIN_SIGN, f"[{_KELVIN_SIGN}]", _LONG_S),
)

ASSIGNMENT_COUNT = 300
TOPICS_MAX = 5
PARTITIONS_MAX = 24
MEMBERS_MAX = 8
# More than partitions in some groups, and more than a small hash table has room for.
SHARING_MEMBERS_MAX = 20
SHARED_ASSIGNMENT_COUNT = 150


def questions(draw: random.Random) -> list[str]:
    """Return the questions, a line each."""
    return [
        *(f"hash\t{bytes((i * 31 + 7) & 0xFF for i in range(length)).hex()}" for length in HASHED_LENGTHS),
        *(_expression(draw) for _ in range(EXPRESSION_COUNT)),
        *(_assignment(draw) for _ in range(ASSIGNMENT_COUNT)),
        "records",
        *(_shared_assignment(draw) for _ in range(SHARED_ASSIGNMENT_COUNT)),
    ]


def _expression(draw: random.Random) -> str:
    text = "".join(draw.choice(EXPRESSION_PARTS) for _ in range(draw.randint(1, EXPRESSION_PARTS_MAX)))
    return f"regex\t{base64.b64encode(text.encode()).decode()}\t{','.join(NAMES)}"


def _assignment(draw: random.Random) -> str:
    """Return a question about members with an assignment that an earlier one could have left them."""
    topics = {_topic_id(draw): draw.randint(1, PARTITIONS_MAX) for _ in range(draw.randint(1, TOPICS_MAX))}
    members = [f"member-{draw.randrange(10_000)}" for _ in range(draw.randint(1, MEMBERS_MAX))]
    members = list(dict.fromkeys(members))
    is_homogeneous = draw.random() < 0.5
    owners = {
        (topic, partition): draw.choice([*members, ""])
        for topic, count in topics.items()
        for partition in range(count)
        if draw.random() < draw.choice((0.0, 0.5, 1.0))
    }
    entries: list[str] = []
    for member in members:
        subscribed = [topic for topic in topics if is_homogeneous or draw.random() < 0.6]
        owned = {topic: [p for (t, p), owner in owners.items() if t == topic and owner == member] for topic in topics}
        instance = f"i-{member}" if draw.random() < 0.3 else ""
        entries.append(f"{member}/{instance}/{'+'.join(subscribed)}/{_partitions(owned)}")
    counts = ",".join(f"{topic}={count}" for topic, count in topics.items())
    assignor = draw.choice(("range", "uniform", "uniform"))
    return f"assign\t{assignor}\t{int(is_homogeneous)}\t{counts}\t{','.join(entries)}"


def _shared_assignment(draw: random.Random) -> str:
    """Return a question about members of a share group, which may have the same partitions."""
    topics = {_topic_id(draw): draw.randint(1, MEMBERS_MAX) for _ in range(draw.randint(1, TOPICS_MAX))}
    members = dict.fromkeys(f"member-{draw.randrange(10_000)}" for _ in range(draw.randint(1, SHARING_MEMBERS_MAX)))
    is_homogeneous = draw.random() < 0.5
    usual = [topic for topic in topics if draw.random() < 0.8]
    assignable = {topic: [p for p in range(count) if draw.random() < 0.9] for topic, count in topics.items()}
    density = draw.choice((0.0, 0.2, 0.5, 1.0))
    entries: list[str] = []
    for member in members:
        subscribed = usual if is_homogeneous else [topic for topic in topics if draw.random() < 0.6]
        owned = {topic: [p for p in assignable[topic] if draw.random() < density] for topic in topics}
        entries.append(f"{member}//{'+'.join(subscribed)}/{_partitions(owned)}")
    counts = ",".join(f"{topic}={count}" for topic, count in topics.items())
    return f"assign\tsimple\t{int(is_homogeneous)}\t{counts}\t{','.join(entries)}\t{_partitions(assignable)}"


def _partitions(topics: dict[str, list[int]]) -> str:
    return "+".join(f"{topic}:{'.'.join(map(str, partitions))}" for topic, partitions in topics.items() if partitions)


def _topic_id(draw: random.Random) -> str:
    return base64.urlsafe_b64encode(draw.randbytes(16)).decode().rstrip("=")


def main() -> None:
    """Ask Kafka's classes."""
    asked = questions(random.Random(SEED))
    command = ["java", "-cp", f"{reference_jars()}/*", str(FOLDER / "GroupOracle.java")]
    text = "\n".join(asked) + "\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=SECONDS_MAX)
    with FILE.open("w") as output:
        for question, answer in zip(asked, done.stdout.splitlines(), strict=True):
            words = question.split("\t")
            # The names are the same in all questions.
            output.write(json.dumps([words[:2] if words[0] == "regex" else words, answer]) + "\n")


if __name__ == "__main__":
    main()
