"""Secrets taken out of what is written: what looks like one, and the values of variables that a command does not get."""

from __future__ import annotations

import re

from execplan.text import secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Final

REDACTED: Final = "[redacted]"
"""What stands in place of a secret."""
KEY_BEGINS: Final = b"-----BEGIN "
KEY_ENDS: Final = b"-----END "
KEY: Final = b"PRIVATE KEY-----"
_NAMES = ("KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH")
"""What is in the name of a variable whose value is a secret whatever it is."""
_LONG, _SHORT = 8, 4
"""The least characters of a value that is taken out: of any variable, of one with such a name."""

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
"""What a terminal does not show, such as the colour of a word that was searched for."""


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
        found = [*self._plain_spans(text), *self._coloured_spans(text)]
        merged: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        return merged

    def _plain_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where secrets stand in a text as they are; they may overlap."""
        yield from [(each.start, each.end) for each in secrets.find(text)]
        for value in self._values:
            at = text.find(value)
            while at >= 0:
                yield at, at + len(value)
                at = text.find(value, at + len(value))

    def _coloured_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where they stand for whoever sees the text on a terminal."""
        if "\x1b" not in text:
            return
        hidden = {at for each in _COLOUR.finditer(text) for at in range(*each.span())}
        seen = [at for at in range(len(text)) if at not in hidden]
        for start, end in self._plain_spans("".join([text[at] for at in seen])):
            yield seen[start], seen[end - 1] + 1

    def text(self, text: str) -> str:
        """A text without secrets."""
        for start, end in reversed(self.spans(text)):
            text = text[:start] + REDACTED + text[end:]
        return text

    def value(self, value: object) -> object:
        """A value of JSON without secrets in its strings and keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(each) for name, each in value.items()}
        return value


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
