"""What a regular expression of RE2 means, as a tree; what is wrong with one that is none, in RE2/J's words.

Source: Parser of RE2/J 1.8 with the flags of Pattern.compile, which Kafka 4.3.0 calls. One limit is our own: on how
deep groups nest, where RE2/J runs out of its stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .regex_characters import ALL, NOTHING, find_perl_set, find_posix_set, find_unicode_set, range_set
from .regex_tree import Alternatives, Characters, Node, Position, Repeat, Sequence

# What RE2/J allows; {1000} is the largest count.
REPEAT_MAX = 1000
REPEAT_DIGITS_MAX = 8
# Far more than anybody writes, and far less than a stack holds.
DEPTH_MAX = 200

INVALID_RANGE = "invalid character class range"
INVALID_ESCAPE = "invalid escape sequence"
INVALID_NAME = "invalid named capture"
INVALID_PERL = "invalid or unsupported Perl syntax"
INVALID_REPEAT = "invalid nested repetition operator"
INVALID_REPEAT_SIZE = "invalid repeat count"
MISSING_BRACKET = "missing closing ]"
MISSING_PAREN = "missing closing )"
MISSING_REPEAT_ARGUMENT = "missing argument to repetition operator"
TRAILING_BACKSLASH = "trailing backslash at end of expression"
DUPLICATE_NAME = "duplicate capture group name"
# What RE2/J calls a closing parenthesis that nothing opened.
UNEXPECTED_PAREN = "regexp/syntax: internal error"
TOO_DEEP = "expression nests too deeply"

_OCTAL_DIGITS = "01234567"
_UNICODE_MAX = 0x10FFFF
_SIMPLE_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class InvalidRegexError(Exception):
    """The text is no regular expression; description says why."""

    def __init__(self, description: str) -> None:
        """Say why."""
        super().__init__(description)
        self.description = description


_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(slots=True)
class _Group:
    """What is open: the alternatives so far, what stands since the last |, and whether case counted before it."""

    folded_case_before: bool = False
    alternatives: list[Node] = field(default_factory=list["Node"])
    parts: list[Node] = field(default_factory=list["Node"])

    def next_alternative(self) -> None:
        self.alternatives.append(Sequence(tuple(self.parts)))
        self.parts = []

    def node(self) -> Node:
        self.next_alternative()
        return self.alternatives[0] if len(self.alternatives) == 1 else Alternatives(tuple(self.alternatives))


def parse_regex(text: str) -> Node:
    """Return what the expression means; raises InvalidRegexError."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._folds_case = False
        self._groups = [_Group()]
        self._names: set[str] = set()
        # Whether a repetition has just ended, or what began like one.
        self._has_repeated = False

    def parse(self) -> Node:
        while self._position < len(self._text):
            is_repetition = self._text[self._position] in "*+?{"
            self._parse_next()
            self._has_repeated = is_repetition
        if len(self._groups) > 1:
            raise InvalidRegexError(MISSING_PAREN)
        return self._groups[0].node()

    # -- the text

    @property
    def _rest(self) -> str:
        return self._text[self._position :]

    def _peek(self) -> str:
        """Return the next character, "" at the end."""
        return self._text[self._position : self._position + 1]

    def _pop(self) -> str:
        character = self._peek()
        self._position += 1
        return character

    def _looks_at(self, text: str) -> bool:
        return self._text.startswith(text, self._position)

    # -- outside of classes

    def _parse_next(self) -> None:
        parts = self._groups[-1].parts
        character = self._pop()
        match character:
            case "^":
                parts.append(Position.BEGIN)
            case "$":
                parts.append(Position.END)
            case ".":
                parts.append(Characters(ALL))
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._groups[-1].next_alternative()
            case "[":
                parts.append(Characters(self._parse_class()))
            case "\\":
                self._parse_backslash(parts)
            case "*" | "+" | "?":
                self._repeat(*_REPEATS[character])
            case "{" if (bounds := self._parse_bounds()) is not None:
                self._repeat(*bounds)
            case _:
                parts.append(self._literal(ord(character)))

    def _literal(self, code: int) -> Node:
        return Characters(range_set(code, code, folds_case=self._folds_case))

    def _repeat(self, least: int, most: int | None) -> None:
        # How greedy it is does not matter to what matches as a whole.
        if self._looks_at("?"):
            self._position += 1
        if self._has_repeated:
            raise InvalidRegexError(INVALID_REPEAT)
        parts = self._groups[-1].parts
        if not parts:
            raise InvalidRegexError(MISSING_REPEAT_ARGUMENT)
        parts[-1] = Repeat(parts[-1], least, most)

    def _parse_bounds(self) -> tuple[int, int | None] | None:
        """Return the bounds behind an opening brace; None, and nothing is read, where it stands for itself."""
        start = self._position
        least = most = self._parse_number()
        if least is not None and self._looks_at(","):
            self._position += 1
            most = -1 if self._looks_at("}") else self._parse_number()
        if least is None or most is None or not self._looks_at("}"):
            self._position = start
            return None
        self._position += 1
        if least > REPEAT_MAX or most > REPEAT_MAX or 0 <= most < least:
            raise InvalidRegexError(INVALID_REPEAT_SIZE)
        return least, None if most < 0 else most

    def _parse_number(self) -> int | None:
        """Return a number without leading zeros, one above the largest for one of too many digits; or None."""
        start = self._position
        while self._peek() and self._peek() in "0123456789":
            self._position += 1
        digits = self._text[start : self._position]
        if not digits or (len(digits) > 1 and digits[0] == "0"):
            return None
        return REPEAT_MAX + 1 if len(digits) > REPEAT_DIGITS_MAX else int(digits)

    # -- groups

    def _open(self) -> None:
        if len(self._groups) > DEPTH_MAX:
            raise InvalidRegexError(TOO_DEEP)
        if not self._looks_at("?"):
            self._groups.append(_Group(self._folds_case))
        elif self._looks_at("?P<") or self._looks_at("?<"):
            self._parse_name()
            self._groups.append(_Group(self._folds_case))
        else:
            self._position += 1
            self._parse_flags()

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise InvalidRegexError(UNEXPECTED_PAREN)
        group = self._groups.pop()
        self._folds_case = group.folded_case_before
        self._groups[-1].parts.append(group.node())

    def _parse_name(self) -> None:
        self._position += len("?P<") if self._looks_at("?P<") else len("?<")
        end = self._text.find(">", self._position)
        name = self._text[self._position : end]
        if end < 0 or not name or not all(_is_alphanumeric(each) or each == "_" for each in name):
            raise InvalidRegexError(INVALID_NAME)
        if name in self._names:
            raise InvalidRegexError(DUPLICATE_NAME)
        self._names.add(name)
        self._position = end + 1

    def _parse_flags(self) -> None:
        """Read flags up to ) or :. All but i concern lines and greed, which topic names know nothing of."""
        folds_case, is_setting, has_flag = self._folds_case, True, False
        while True:
            character = self._pop()
            if character and character in "imsU":
                has_flag = True
                folds_case = is_setting if character == "i" else folds_case
            elif character == "-" and is_setting:
                is_setting, has_flag = False, False
            elif character and character in "):" and (is_setting or has_flag):
                break
            else:
                raise InvalidRegexError(INVALID_PERL)
        if character == ":":
            self._groups.append(_Group(self._folds_case))
        self._folds_case = folds_case

    # -- backslashes

    def _parse_backslash(self, parts: list[Node]) -> None:
        letter = self._peek()
        match letter:
            case "A":
                parts.append(Position.BEGIN)
            case "z":
                parts.append(Position.END)
            case "b":
                parts.append(Position.WORD_BOUNDARY)
            case "B":
                parts.append(Position.NO_WORD_BOUNDARY)
            case "C":
                raise InvalidRegexError(INVALID_ESCAPE)
            case "Q":
                self._parse_quoted(parts)
                return
            case _:
                found = self._parse_set()
                parts.append(self._literal(self._parse_escape()) if found is None else Characters(found))
                return
        self._position += 1

    def _parse_quoted(self, parts: list[Node]) -> None:
        self._position += 1
        end = self._text.find("\\E", self._position)
        quoted = self._rest if end < 0 else self._text[self._position : end]
        parts += [self._literal(ord(each)) for each in quoted]
        # RE2/J steps over \E whether there is one or not; there is nothing behind it then.
        self._position += len(quoted) + len("\\E")

    def _parse_set(self) -> int | None:
        """Return the set that a letter behind a backslash stands for; None, and nothing is read, where it is none."""
        letter = self._peek()
        if letter and letter in "pP":
            return self._parse_unicode_set()
        found = find_perl_set(letter, folds_case=self._folds_case)
        if found is not None:
            self._position += 1
        return found

    def _parse_unicode_set(self) -> int:
        is_negated = self._pop() == "P"
        name = self._pop()
        if name == "{":
            end = self._text.find("}", self._position)
            if end < 0:
                raise InvalidRegexError(INVALID_RANGE)
            name = self._text[self._position : end]
            self._position = end + 1
        if name.startswith("^"):
            is_negated = not is_negated
            name = name[1:]
        found = find_unicode_set(name, folds_case=self._folds_case)
        if found is None:
            raise InvalidRegexError(INVALID_RANGE)
        return ALL ^ found if is_negated else found

    def _parse_escape(self) -> int:
        """Return the code of the one character that stands behind a backslash."""
        letter = self._pop()
        if not letter:
            raise InvalidRegexError(TRAILING_BACKSLASH)
        if letter == "0" or (letter in _OCTAL_DIGITS and self._peek() and self._peek() in _OCTAL_DIGITS):
            return self._parse_octal(letter)
        if letter == "x":
            return self._parse_hexadecimal()
        if letter in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[letter]
        if _is_alphanumeric(letter):
            raise InvalidRegexError(INVALID_ESCAPE)
        return ord(letter)

    def _parse_octal(self, digits: str) -> int:
        while len(digits) < 3 and self._peek() and self._peek() in _OCTAL_DIGITS:
            digits += self._pop()
        return int(digits, 8)

    def _parse_hexadecimal(self) -> int:
        if self._looks_at("{"):
            end = self._text.find("}", self._position)
            digits = self._text[self._position + 1 : end] if end >= 0 else ""
            self._position = end + 1
        else:
            digits = self._rest[:2]
            self._position += 2
            digits = digits if len(digits) == 2 else ""
        if not digits or not all(each in "0123456789abcdefABCDEF" for each in digits):
            raise InvalidRegexError(INVALID_ESCAPE)
        code = int(digits, 16)
        if code > _UNICODE_MAX:
            raise InvalidRegexError(INVALID_ESCAPE)
        return code

    # -- classes

    def _parse_class(self) -> int:
        """Return the set behind an opening bracket."""
        is_negated = self._looks_at("^")
        self._position += is_negated
        characters, is_first = NOTHING, True
        while is_first or not self._looks_at("]"):
            characters |= self._parse_class_part()
            is_first = False
        self._position += 1
        return ALL ^ characters if is_negated else characters

    def _parse_class_part(self) -> int:
        if self._looks_at("[:") and ":]" in self._rest:
            end = self._text.index(":]", self._position)
            found = find_posix_set(self._text[self._position + 2 : end], folds_case=self._folds_case)
            if found is None:
                raise InvalidRegexError(INVALID_RANGE)
            self._position = end + 2
            return found
        if self._looks_at("\\"):
            self._position += 1
            found = self._parse_set()
            if found is not None:
                return found
            self._position -= 1
        return self._parse_range()

    def _parse_range(self) -> int:
        first = last = self._parse_class_character()
        if self._looks_at("-") and not self._looks_at("-]"):
            self._position += 1
            last = self._parse_class_character()
            if last < first:
                raise InvalidRegexError(INVALID_RANGE)
        return range_set(first, last, folds_case=self._folds_case)

    def _parse_class_character(self) -> int:
        character = self._pop()
        if not character:
            raise InvalidRegexError(MISSING_BRACKET)
        return self._parse_escape() if character == "\\" else ord(character)


def _is_alphanumeric(character: str) -> bool:
    return character.isascii() and character.isalnum()
