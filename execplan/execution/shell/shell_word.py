"""Shell words without their quotes, and the expansions in them that only a shell performs."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.shell.simple_command import SimpleCommand

QUOTED = "\x00"
"""Placeholder in a mask for each quoted character."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_ESCAPES |= {char: char for char in "\\'\"?"}
_CODE_DIGITS = {"x": 2, "u": 4, "U": 8}
_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")


class ShellWord(NamedTuple):
    """A word of a shell command."""

    text: str
    """Text without quotes; expansions are kept as written."""
    mask: str
    """Mask of the same length as the text: the unquoted characters, and QUOTED for all others."""
    shell_reason: str
    """Reason why the word needs a shell, or an empty string."""
    nested_commands: tuple[SimpleCommand, ...]
    """Commands in the word's substitutions."""
    source: str
    """The word as written, with its quotes, on one line."""

    @property
    def is_plain(self) -> bool:
        """Whether the word has no quoted or expanded part."""
        return QUOTED not in self.mask

    @property
    def assigned_name(self) -> str:
        """Name of the variable that the word sets for a command, or an empty string."""
        name = self.text.partition("=")[0]
        identifier = name.removesuffix("+")
        # empty quotes leave no trace in the mask, but make the word a program
        is_unquoted = self.mask.startswith(name + "=") and self.source.startswith(name + "=")
        if len(name) < len(self.text) and identifier.isidentifier() and is_unquoted:
            return identifier
        return ""


def describe_expansion(mask: str) -> str:
    """Return a description of the expansion of a word's unquoted characters, or an empty string."""
    if mask.startswith("~"):
        return "`~` is expanded"
    if "*" in mask or ("?" in mask and "://" not in mask.partition("?")[0]):
        return "a glob pattern"
    at = mask.find("[")
    while at >= 0:
        end = mask.find("]", at + 2)
        if end > 0 and not _is_name(mask[at + 1 : end]):
            return "a glob pattern"
        at = mask.find("[", at + 1)
    at = mask.find("{")
    while at >= 0:
        end = mask.find("}", at)
        if end > 0 and ("," in mask[at:end] or ".." in mask[at:end]):
            return "`{…}` is expanded"
        at = mask.find("{", at + 1)
    return ""


def _is_name(text: str) -> bool:
    """Return whether text in brackets is a name, as in `.[dev]` or `[slug]/page.tsx`, and not a set of characters."""
    letters = text.replace("-", "").replace("_", "").replace(",", "").replace(".", "")
    return len(letters) > 2 and letters[0].isalpha() and letters.isalnum()


def decode_ansi_c(text: str) -> str | None:
    """Return the value of `$'text'`, or None if it is not valid text."""
    chars = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at == len(text):
            chars.append(char)
            continue
        char = text[at]
        at += 1
        if char in _ESCAPES:
            chars.append(_ESCAPES[char])
            continue
        if char == "c":
            return None
        digits, max_digits, start = (_HEX, _CODE_DIGITS[char], at) if char in _CODE_DIGITS else (_OCTAL, 3, at - 1)
        at = start
        while at < len(text) and at - start < max_digits and text[at] in digits:
            at += 1
        code = -1
        if at > start:
            code = int(text[start:at], 16 if digits is _HEX else 8)
        if code < 0:
            at = max(at, start + (digits is _OCTAL))
            chars.append("\\" + (char if digits is _HEX else text[start:at]))
        elif code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 or (max_digits < 4 and code > 0x7F):
            return None
        else:
            chars.append(chr(code))
    return "".join(chars)
