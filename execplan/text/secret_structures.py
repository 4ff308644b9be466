"""Secrets by what stands around them, and the values of Secrets of Kubernetes."""

from __future__ import annotations

from typing import Final

from execplan.text.patterns import compile_pattern
from execplan.text.secret_forms import all_structures
from execplan.text.secret_values import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLUSTER_KIND: Final = r"(?mi)(?:^|[ \t>+{,-])\"?kind\"?:[ \t]*[\"']?Secret(?:List)?[\"']?,?[ \t]*$"
_DATA_BLOCK: Final = r"(?m)^(?P<indent>[ \t>+-]*)\"?(?:data|stringData)\"?:[ \t]*\{?[ \t]*\n(?P<body>(?:(?P=indent)[ \t]+[^\n]*(?:\n|$)){1,400})"
_DATA_ENTRY: Final = r"(?m)^[ \t>+-]*\"?[\w.-]{1,200}\"?:[ \t]*[\"']?(?P<s>[^\s\"',|>][^\s\"',]{2,20000})"
_LOWER_ASCII: Final = {code: code + 32 for code in range(65, 91)}
_MAX_AFTER_NEEDLE: Final = 300
"""Characters after a needle in which a structure that has begun goes on."""
_MAX_DOCUMENT: Final = 20_000
"""Characters around `kind: Secret` in which its data is looked for."""


def find_structures(text: str) -> Iterator[tuple[int, int]]:
    """Where they begin and end; they may overlap."""
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text.translate(_LOWER_ASCII)
    for needles, pattern, is_secret_match in all_structures():
        if not any([needle in lowered for needle in needles]):
            continue
        regex = compile_pattern(pattern)
        groups = [group for group in ("s", "d", "q", "b") if group in regex.groupindex]
        for region_start, region_end in find_needle_regions(lowered, needles):
            for match in regex.finditer(text, region_start, region_end):
                value_group = next((group for group in groups if match[group] is not None), "")
                if value_group and is_secret_match(match, match[value_group]):
                    yield match.span(value_group)
    if "secret" in lowered and "kind" in lowered:
        yield from _find_kubernetes_secrets(text)


def find_needle_regions(lowered: str, needles: Sequence[str]) -> list[tuple[int, int]]:
    """The lines with a needle and some around them, in order, none twice; the whole text where there is no needle."""
    if not needles:
        return [(0, len(lowered))]
    regions: list[tuple[int, int]] = []
    for needle in needles:
        index = lowered.find(needle)
        while index >= 0:
            begin = lowered.rfind("\n", 0, max(lowered.rfind("\n", 0, index), 0)) + 1
            end = lowered.find("\n", index + _MAX_AFTER_NEEDLE)
            end = end if end >= 0 else len(lowered)
            regions.append((begin, end))
            index = lowered.find(needle, end)
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(regions):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _find_kubernetes_secrets(text: str) -> Iterator[tuple[int, int]]:
    """The values of a Secret of Kubernetes, whatever their names are."""
    document_end = -1
    for kind_line in compile_pattern(_CLUSTER_KIND).finditer(text):
        if kind_line.start() < document_end:
            continue
        document_start = max(
            text.rfind("\n---", max(kind_line.start() - _MAX_DOCUMENT, 0), kind_line.start()),
            kind_line.start() - _MAX_DOCUMENT,
            0,
        )
        separator = text.find("\n---", kind_line.end(), kind_line.end() + _MAX_DOCUMENT)
        document_end = separator if separator >= 0 else min(kind_line.end() + _MAX_DOCUMENT, len(text))
        for data_match in compile_pattern(_DATA_BLOCK).finditer(text, document_start, document_end):
            for entry_match in compile_pattern(_DATA_ENTRY).finditer(text, *data_match.span("body")):
                if not is_placeholder(entry_match["s"]) and not entry_match["s"].startswith(("$", "{{", "<")):
                    yield entry_match.span("s")
