"""Secrets taken out of what is written: what looks like one, and the values of variables that a command does not get."""

from __future__ import annotations

from execplan.text.secret_names import kind
from execplan.text.secret_scan import HIDDEN, merged_spans, without
from execplan.text.secret_scan import spans as secret_spans
from execplan.text.secret_values import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Final

REDACTED: Final = "[redacted]"
"""What stands in place of a secret."""
_TIMES: Final = 3
"""How often a text is searched at most."""
KEY_BEGINS: Final = b"-----BEGIN "
KEY_ENDS: Final = b"-----END "
KEY: Final = b"PRIVATE KEY-----"
_NAMES = ("KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH")
"""What is in the name of a variable whose value is a secret whatever it is."""
_LONG, _SHORT = 8, 4
"""The least characters of a value that is taken out: of any variable, of one with such a name."""


class Redaction:
    """What is taken out of every text: secrets by their looks, and the values of variables, encoded ones too."""

    def __init__(self, environ: Mapping[str, str], allowed: Collection[str]) -> None:
        """Know the values of an environment; those of the variables that are allowed may be shown if their names do not tell."""
        found: set[str] = set()
        for name, value in environ.items():
            told = _tells(name)
            if told or name not in allowed:
                found.update(_forms(value, _SHORT if told else _LONG, path_too=told))
        self._values = sorted(found, key=lambda value: (-len(value), value))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets begin and end, in order, those that overlap as one."""
        found = [*secret_spans(text), *self._of_variables(text)]
        if self._values:
            found += without(text, HIDDEN, self._of_variables)
        return merged_spans(found)

    def _of_variables(self, text: str) -> Iterator[tuple[int, int]]:
        """Where values of variables are; they may overlap."""
        for value in self._values:
            at = text.find(value)
            while at >= 0:
                yield at, at + len(value)
                at = text.find(value, at + len(value))

    def text(self, text: str, before: str = "") -> str:
        """A text without secrets; `before` is what was printed before it, which may tell what is in it.

        What is left is searched again, so that redacting it once more changes nothing.
        """
        if before:
            size = len(before)
            found = [(max(start - size, 0), end - size) for start, end in self.spans(before + text) if end > size]
            text = _without(text, found)
        for _ in range(_TIMES):
            found = self.spans(text)
            if not found:
                break
            text = _without(text, found)
        return text

    def value(self, value: object) -> object:
        """A value of JSON without secrets in its strings and keys; a key tells what is under it, an option what is after it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return self._of_list(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self._under(str(name), each) for name, each in value.items()}
        return value

    def _under(self, name: str, value: object) -> object:
        """What is under a key."""
        if isinstance(value, str) and (found := kind(name)) and is_secret(value, found, quoted=True, config=True):
            return REDACTED
        return self.value(value)

    def _of_list(self, values: Sequence[object]) -> list[object]:
        """A list: the words of a command, where an option tells the next word; or lines, where one tells another."""
        made = [self.value(each) for each in values]
        texts = [each for each in values if isinstance(each, str)]
        if len(texts) < 2 or len(texts) < len(values):
            return made
        is_command = " " not in texts[0] and "\n" not in texts[0]
        found, start = self.spans((" " if is_command else "\n").join(texts)), 0
        for at, text in enumerate(texts):
            end = start + len(text)
            within = [
                (max(one, start) - start, min(other, end) - start)
                for one, other in found
                if one < end and other > start
            ]
            if within:
                whole = is_command and within[0][0] == 0
                made[at] = REDACTED if whole else self.text(_without(text, within))
            start = end + 1
        return made


def _without(text: str, found: list[tuple[int, int]]) -> str:
    """A text with a mark in place of what was found in it."""
    parts, at = [], 0
    for start, end in found:
        parts += [text[at:start], REDACTED]
        at = end
    return "".join([*parts, text[at:]])


def _tells(name: str) -> bool:
    """Whether a variable holds a secret by its name; that of an author is none."""
    name = name.upper()
    return any([part in name for part in _NAMES[:-1]]) or _NAMES[-1] in name.replace("AUTHOR_", "").removesuffix(
        "AUTHOR"
    )


def _forms(value: str, least: int, *, path_too: bool) -> Iterator[str]:
    """The ways in which a value may be printed: as it is, each of its lines, and encoded."""
    whole = value.strip()
    for line in {whole, *[line.strip() for line in whole.splitlines()]}:
        if len(line) < least or "\n" in line or (not path_too and _is_path(line)):
            continue
        yield line
        yield from _quoted(line)
    if len(whole) >= _LONG and (path_too or not _is_path(whole)):
        yield from _encoded(whole)


def _is_path(value: str) -> bool:
    """Whether a value is a path, or a list of such, as in MANPATH."""
    return all([each.startswith(("/", "~/", "./", "../")) or not each for each in value.split(":")])


def _quoted(line: str) -> Iterator[str]:
    """A line as an address, a JSON document and a shell hold it, where that differs."""
    from json import dumps
    from urllib.parse import quote, quote_plus

    for form in (quote(line, safe=""), quote(line), quote_plus(line), dumps(line)[1:-1], line.replace("'", "'\\''")):
        if form != line:
            yield form


def _encoded(value: str) -> Iterator[str]:
    """What is in a base64 text whatever stands before and behind the value in what was encoded; and as hexadecimal digits."""
    from base64 import b64encode

    data = value.encode("utf-8", "surrogateescape")
    yield data.hex()
    yield data.hex().upper()
    for before in range(3):
        coded = b64encode(b"\0" * before + data)
        begin, odd = (0, 2, 3)[before], (before + len(data)) % 3
        form = coded[begin : len(coded) - (0, 3, 2)[odd]].decode()
        yield form
        yield form.replace("+", "-").replace("/", "_")
