"""Secrets by what stands around them, and the values of Secrets of Kubernetes."""

from __future__ import annotations

from typing import Final

from execplan.text.patterns import compiled
from execplan.text.secret_forms import all_structures
from execplan.text.secret_values import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLUSTER_KIND: Final = r"(?mi)(?:^|[ \t>+{,-])\"?kind\"?:[ \t]*[\"']?Secret(?:List)?[\"']?,?[ \t]*$"
_DATA: Final = r"(?m)^(?P<indent>[ \t>+-]*)\"?(?:data|stringData)\"?:[ \t]*\{?[ \t]*\n(?P<body>(?:(?P=indent)[ \t]+[^\n]*(?:\n|$)){1,400})"
_ENTRY: Final = r"(?m)^[ \t>+-]*\"?[\w.-]{1,200}\"?:[ \t]*[\"']?(?P<s>[^\s\"',|>][^\s\"',]{2,20000})"
_FOLD: Final = {code: code + 32 for code in range(65, 91)}
_AFTER: Final = 300
"""Characters after a needle in which a structure that has begun goes on."""
_DOCUMENT: Final = 20_000
"""Characters around `kind: Secret` in which its data is looked for."""


def structures(text: str) -> Iterator[tuple[int, int]]:
    """Where they begin and end; they may overlap."""
    folded = text.lower()
    folded = folded if len(folded) == len(text) else text.translate(_FOLD)
    for needles, pattern, is_one in all_structures():
        if not any([needle in folded for needle in needles]):
            continue
        form = compiled(pattern)
        names = [each for each in ("s", "d", "q", "b") if each in form.groupindex]
        for begin, end in regions(folded, needles):
            for match in form.finditer(text, begin, end):
                name = next((each for each in names if match[each] is not None), "")
                if name and is_one(match, match[name]):
                    yield match.span(name)
    if "secret" in folded and "kind" in folded:
        yield from _cluster_secrets(text)


def regions(folded: str, needles: Sequence[str]) -> list[tuple[int, int]]:
    """The lines with a needle and some around them, in order, none twice; the whole text where there is no needle."""
    if not needles:
        return [(0, len(folded))]
    found: list[tuple[int, int]] = []
    for needle in needles:
        at = folded.find(needle)
        while at >= 0:
            begin = folded.rfind("\n", 0, max(folded.rfind("\n", 0, at), 0)) + 1
            end = folded.find("\n", at + _AFTER)
            end = end if end >= 0 else len(folded)
            found.append((begin, end))
            at = folded.find(needle, end)
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _cluster_secrets(text: str) -> Iterator[tuple[int, int]]:
    """The values of a Secret of Kubernetes, whatever their names are."""
    done = -1
    for kind_line in compiled(_CLUSTER_KIND).finditer(text):
        if kind_line.start() < done:
            continue
        begin = max(
            text.rfind("\n---", max(kind_line.start() - _DOCUMENT, 0), kind_line.start()),
            kind_line.start() - _DOCUMENT,
            0,
        )
        stop = text.find("\n---", kind_line.end(), kind_line.end() + _DOCUMENT)
        done = stop if stop >= 0 else min(kind_line.end() + _DOCUMENT, len(text))
        for data in compiled(_DATA).finditer(text, begin, done):
            for entry in compiled(_ENTRY).finditer(text, *data.span("body")):
                if not is_placeholder(entry["s"]) and not entry["s"].startswith(("$", "{{", "<")):
                    yield entry.span("s")
