"""Sets of characters in regular expressions, as far as topic names have them: ASCII, a bit for each.

No topic has other characters, so that it does not matter what else a set has, but for case folding, where two letters
beyond ASCII stand for k and s too.
Source: CharGroup, Unicode and UnicodeTables of RE2/J 1.8, which Kafka 4.3.0 matches with.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

ASCII_COUNT = 128
ALL = (1 << ASCII_COUNT) - 1
NOTHING = 0

# The characters that fold to the same one as an ASCII letter, beside its other case.
_KELVIN_SIGN, _LONG_S = 0x212A, 0x17F
_FOLDED = {"k": _KELVIN_SIGN, "s": _LONG_S}


def set_of(contains: Callable[[int], bool]) -> int:
    """Return the set of all ASCII characters for which contains is true."""
    return sum(1 << code for code in range(ASCII_COUNT) if contains(code))


def range_set(first: int, last: int, *, folds_case: bool) -> int:
    """Return the set of the characters from first to last."""
    if not folds_case:
        return set_of(lambda code: first <= code <= last)
    return set_of(lambda code: any(first <= each <= last for each in _orbit(code)))


def _orbit(code: int) -> list[int]:
    """Return the codes that differ from this one in case only, itself among them."""
    text = chr(code)
    other_case = {code, ord(text.lower()), ord(text.upper())}
    folded = _FOLDED.get(text.lower())
    return sorted(other_case if folded is None else other_case | {folded})


def _ranges(*ranges: str) -> int:
    """Return the set of ranges, each of which is its first and its last character."""
    return sum(range_set(ord(each[0]), ord(each[-1]), folds_case=False) for each in ranges)


_DIGITS, _WORD = _ranges("09"), _ranges("09", "AZ", "_", "az")
_SPACES = _ranges("\t\n", "\f\r", " ")

_PERL_SETS: Mapping[str, int] = MappingProxyType(
    {"d": _DIGITS, "D": ALL ^ _DIGITS, "s": _SPACES, "S": ALL ^ _SPACES, "w": _WORD, "W": ALL ^ _WORD}
)

_POSIX_SETS: Mapping[str, int] = MappingProxyType(
    {
        "alnum": _ranges("09", "AZ", "az"),
        "alpha": _ranges("AZ", "az"),
        "ascii": ALL,
        "blank": _ranges("\t", " "),
        "cntrl": _ranges("\0\x1f", "\x7f"),
        "digit": _DIGITS,
        "graph": _ranges("!~"),
        "lower": _ranges("az"),
        "print": _ranges(" ~"),
        "punct": _ranges("!/", ":@", "[`", "{~"),
        "space": _ranges("\t\r", " "),
        "upper": _ranges("AZ"),
        "word": _WORD,
        "xdigit": _ranges("09", "AF", "af"),
    }
)


def is_word(code: int) -> bool:
    """Whether the character is one of those that words are made of."""
    return bool(_WORD >> code & 1)


def find_perl_set(letter: str, *, folds_case: bool) -> int | None:
    """Return the set behind a backslash and a letter (d, D, s, S, w, W), or None."""
    found = _PERL_SETS.get(letter)
    return None if found is None else _folded(found, folds_case=folds_case)


def find_posix_set(name: str, *, folds_case: bool) -> int | None:
    """Return the set of a name as it stands in [:name:], where ^ before it takes the others; or None."""
    is_negated = name.startswith("^")
    found = _POSIX_SETS.get(name.removeprefix("^"))
    if found is None:
        return None
    folded = _folded(found, folds_case=folds_case)
    return ALL ^ folded if is_negated else folded


def find_unicode_set(name: str, *, folds_case: bool) -> int | None:
    """Return the set of a Unicode category or script (Lu, Greek, Any), or None."""
    if name == "Any":
        return ALL
    if name in _CATEGORIES:
        found = set_of(lambda code: unicodedata.category(chr(code)).startswith(name))
        if name == "Ll" and folds_case:
            # All that RE2/J's table has of the other case of small letters.
            return found | _ranges("K", "S")
        return _folded(found, folds_case=folds_case)
    if name in _SCRIPTS:
        letters = _POSIX_SETS["alpha"]
        return {"Latin": letters, "Common": ALL ^ letters}.get(name, NOTHING)
    return None


def _folded(characters: int, *, folds_case: bool) -> int:
    if not folds_case:
        return characters
    return set_of(lambda code: any(each < ASCII_COUNT and characters >> each & 1 for each in _orbit(code)))


_CATEGORY_NAMES = "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs"
_CATEGORIES = frozenset(_CATEGORY_NAMES.split())

# As of Unicode 6.0, which RE2/J knows.
_SCRIPT_NAMES = """
    Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal
    Carian Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Ethiopic
    Georgian Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew Hiragana Imperial_Aramaic Inherited
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khmer Lao Latin
    Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko Ogham
    Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang Runic
    Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil
    Telugu Thaana Thai Tibetan Tifinagh Ugaritic Vai Yi
"""
_SCRIPTS = frozenset(_SCRIPT_NAMES.split())
