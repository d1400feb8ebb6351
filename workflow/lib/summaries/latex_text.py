"""Any text as LaTeX: ASCII that every engine sets, whatever encodings and fonts a document has loaded."""

import re
import unicodedata

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "[": "{[}",  # after \\ they would be an option
    "]": "{]}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",
    **{character: f"\\{character}" for character in "&%$#_"},
    "“": "``",
    "”": "''",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "…": r"\ldots{}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{MINUS SIGN}": "$-$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{DEGREE SIGN}": r"$^\circ$",
    "\N{MICRO SIGN}": r"$\mu$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
}

#: From alpha to omega; TeX has no omicron.
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau "
    "upsilon phi chi psi omega"
)
SPECIAL |= {chr(0x3B1 + place): rf"$\{name}$" for place, name in enumerate(GREEK.split()) if name != "omicron"}

#: Letters with commands of their own.
LETTERS = {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
SPECIAL |= {letter: rf"\{name}{{}}" for letter, name in LETTERS.items()}

#: Combining characters and the commands that set them in every encoding.
MARKS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
ACCENTS = dict(zip(MARKS, "`'^~=u.\"rHvc", strict=True))

RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))


def escape(text: str) -> str:
    """Text that LaTeX sets as it is, on one line; of a character that it has no means for, the number."""
    flat = unicodedata.normalize("NFC", " ".join(text.split()))
    pieces = re.split(f"([{''.join(RAISED)}]+)", flat)
    return "".join(
        f"$^{{{''.join(RAISED[character] for character in piece)}}}$" if place % 2 else "".join(map(_character, piece))
        for place, piece in enumerate(pieces)
    )


def _character(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if character.isascii() and character.isprintable():
        return character
    apart = unicodedata.normalize("NFD", character)
    base, mark = apart[0], apart[1:]
    if base.isascii() and mark in ACCENTS:
        return rf"\{ACCENTS[mark]}{{{base}}}"
    return f"{{[}}U+{ord(character):04X}{{]}}"
