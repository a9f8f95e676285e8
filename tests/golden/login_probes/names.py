"""Names of users that differ from "alice" by one thing, and those that users have."""

from __future__ import annotations

USER, PASSWORD = "alice", "secret"

# Behind the name, and the first of them before it too.
SPACES = " \t\n\r\x0b\x0c\x1c\x1f\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000"
_OTHERS = '\x00\x01\x07\x7f,="\\;:/*%\u00ad\u0301\u034f\u200b\u200e\u2060\ufeff\ue000\u0378\U0001f600'


def code_of(character: str) -> str:
    """Return the code point as Unicode writes it."""
    return f"U+{ord(character):04X}"


_WHOLE = {
    "as it is": USER,
    "upper case": "ALICE",
    "one upper case letter": "Alice",
    "full width": "\uff41\uff4c\uff49\uff43\uff45",
    "one letter of Cyrillic": "\u0430lice",
    "dotless i": "al\u0131ce",
    "capital I with a dot": "AL\u0130CE",
    "composed accent": "al\u00edce",
    "ligature": "al\ufb01ce",
    "Kelvin sign": "\u212aalice",
    "superscript": "alice\u00b2",
    "right-to-left letter": "alice\u0627",
    "escaped comma": "al=2Cice",
    "escaped equals sign": "al=3Dice",
    "escaped comma in lower case": "al=2cice",
    "escaped letter": "=61lice",
    "type of the principal": "User:alice",
    "wildcard": "*",
    "slash and host": "alice/host@REALM",
    "two names": "alice,bob",
    "1000 letters": "a" * 1000,
    "empty": "",
    "space alone": " ",
    "no-break space alone": "\u00a0",
    "another user": "bob",
    "super user": "admin",
    "super user behind an em space": "\u2003admin",
    "super user before a no-break space": "admin\u00a0",
    "super user before a next line": "admin\u0085",
    "super user behind an ideographic space": "\u3000admin",
    "super user before a space": "admin ",
    "super user before a tab": "admin\t",
    "super user before a zero width space": "admin\u200b",
    "super user in upper case": "ADMIN",
    "anonymous": "ANONYMOUS",
}
VARIANTS: dict[str, str] = {
    **_WHOLE,
    **{f"{code_of(character)} behind": USER + character for character in SPACES + _OTHERS},
    **{f"{code_of(character)} before": character + USER for character in SPACES},
}

# The users of PLAIN, whose entries are in quotes, and of SCRAM, with their passwords.
_ODD_USERS = {
    "a,b=c": "commas",
    "a b": "space",
    "ALICE": "capitals",
    "=2C": "escaped",
    "alice;x": "semicolon",
}
PLAIN_USERS = {
    USER: PASSWORD,
    "bob": "bobs-secret",
    "admin": "admins-secret",
    **_ODD_USERS,
    "\u00fc": "umlaut",
    "alice\u00a0": "no-break space",
    "\uff41\uff4c\uff49\uff43\uff45": "full width",
    "u1": " spaces ",
    "u2": "p\u00e4ss\uff41\U0001f600",
    "u3": 'quote" and \\backslash',
    "u4": "a=b,c;d",
    "u5": "\u00a0",
}
SCRAM_USERS = {
    USER: PASSWORD,
    "bob": "bobs-secret",
    "admin": "admins-secret",
    **_ODD_USERS,
    "alice ": "trailing space",
    "\u00fc": "umlaut",
    "*": "asterisk",
    "User:alice": "prefixed",
}
# Whoever a client may turn out to be. An ACL of User:* is one for everybody.
CANDIDATES = (
    *dict.fromkeys(
        (
            *PLAIN_USERS,
            *(name for name in SCRAM_USERS if name != "*"),
            "mallory",
            "Alice",
            "CN=alice",
            "CN=ALICE,OU=people,O=fauxka",
            "alice@uid",
            "admin\u00a0",
            "\u2003admin",
        )
    ),
)
