"""Files that a plan does not need to name to be about them, with the reasons.

Five signs are added: the plan names a file, the file contains symbols that the plan names, its path shares words with
the plan, git has changed it together with named files, and git has changed it lately. The files with the best sums, what
they import, what imports them, and their tests are candidates.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import log
from typing import Final

from execplan.context.context_pack import TASK
from execplan.context.gathering.code_imports import IMPORT_PATTERN, ImportIndex, file_stem
from execplan.context.relevance import ScoredUnit
from execplan.context.text_search import extract_symbols, split_words
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project

_MAX_CANDIDATES: Final = 40
_MAX_SYMBOLS: Final = 100
"""Maximum number of symbols of a plan that are searched for."""
_MAX_COMMITS: Final = 400
"""Number of last commits that show which files change together."""
_MAX_COMMIT_FILES: Final = 30
"""Number of files from which a commit is a mass change, which connects nothing."""
_COMMIT_HALF_LIFE, _RECENT_HALF_LIFE = 40, 8
"""Number of newer commits that halves the weight of a common change, and of a change."""
_SEEDS: Final = 10
"""Number of best files whose imports, importers and tests are candidates."""
_NEIGHBOR_SHARE: Final = 0.15
"""Part of a file's score that its neighbors get."""
_MAX_SEED_BYTES: Final = 200_000
_TIMEOUT: Final = 5
"""Timeout in seconds for a search; without its results, the other signs decide."""
_NO_CODE = re.compile(
    r"(?i)\.(?:lock|snap|png|jpe?g|gif|svg|pdf|ico|zip|gz|woff2?|map|min\.js|md|mdx)$|(?:^|/)(?:package-lock\.json|go\.sum|\.agent/execplan\.toml|\.[^/]*)$"
)
"""Files that are generated or hidden, and documents, which count only if the plan names them."""
_SIGNS = {
    "named": (2.0, ""),
    "symbols": (2.0, "contains symbols that the plan names"),
    "words": (1.0, "its path shares words with the plan"),
    "together": (1.0, "git has changed it together with files that the plan names"),
    "recent": (1.0, "git has changed it lately"),
}
"""Weight and reason of each sign."""


class Candidate(NamedTuple):
    """A file that may be needed, with its score from 0 to 1 and the strongest reason."""

    path: str
    score: float
    reason: str


def find_candidates(
    project: Project, paths: Collection[str], named_paths: Sequence[str], plan_units: Sequence[ScoredUnit]
) -> list[Candidate]:
    """Return the files that the scored units of a plan are most probably about, best first, and all named ones."""
    symbols: dict[str, float] = {}
    words: dict[str, float] = {}
    mentions: Counter[str] = Counter()
    for scored in plan_units:
        unit = scored.unit
        weight = 1.0 if unit.pinned and unit.type == TASK else scored.relevance
        for weights, texts in ((symbols, extract_symbols(unit.content)), (words, split_words(unit.content))):
            for text in texts:
                weights[text] = max(weights.get(text, 0.0), weight)
        for path in unit.references:
            mentions[path] += 1
    files = {path for path in paths if not _NO_CODE.search(path) or path in mentions}
    commits = _read_commits(project)
    signs: dict[str, Mapping[str, float]] = {
        "named": mentions,
        "symbols": _score_symbols(project, symbols, len(files)),
        "words": _score_words(files, words),
        "together": _score_common_changes(commits, mentions),
        "recent": {
            path: 1 / (1 + at / _RECENT_HALF_LIFE) for at in reversed(range(len(commits))) for path in commits[at]
        },
    }
    scores: defaultdict[str, float] = defaultdict(float)
    reasons: dict[str, tuple[float, str]] = {}
    for sign, values in signs.items():
        largest = max([value for path, value in values.items() if path in files], default=0.0)
        for path, value in values.items():
            if path in files and value > 0:
                part = _SIGNS[sign][0] * (value / largest) ** 0.5
                scores[path] += part
                reasons[path] = max(reasons.get(path, (0.0, "")), (part, _SIGNS[sign][1]))
    _add_neighbors(project, files, scores, reasons)
    best = sorted(scores, key=lambda path: (-scores[path], path))[:_MAX_CANDIDATES]
    reasons |= {path: (0.0, _describe_mentions(count)) for path, count in mentions.items()}
    largest = scores[best[0]] if best else 1.0
    return [
        Candidate(path, scores[path] / largest, reasons.get(path, (0.0, ""))[1])
        for path in dict.fromkeys([*best, *named_paths])
    ]


def _describe_mentions(count: int) -> str:
    return "1 part of the plan names it" if count == 1 else f"{count} parts of the plan name it"


def _score_symbols(project: Project, symbols: Mapping[str, float], file_count: int) -> dict[str, float]:
    """Score files by the symbols of the plan that they contain; rare ones count more."""
    top = sorted(symbols, key=lambda name: (-symbols[name], name))[:_MAX_SYMBOLS]
    files_by_symbol: dict[str, set[str]] = {}
    for path, line in _search(project, f"\\b(?:{'|'.join(top)})\\b" if top else "", "-o"):
        files_by_symbol.setdefault(line, set()).add(path)
    scores: defaultdict[str, float] = defaultdict(float)
    for name, containing in files_by_symbol.items():
        for path in containing:
            scores[path] += symbols.get(name, 0.0) * log(1 + file_count / (len(containing) + 1))
    return scores


def _score_words(files: Collection[str], words: Mapping[str, float]) -> dict[str, float]:
    """Score files by the part of their names' words that the plan has; rare ones count more."""
    words_by_file = {path: set(split_words(path)) for path in files}
    counts = Counter([word for path_words in words_by_file.values() for word in path_words])
    rarity = {word: log(1 + len(files) / (count + 1)) for word, count in counts.items()}
    scores = {}
    for path in files:
        own_words = set(split_words(path.rpartition("/")[2]))
        total = sum([rarity.get(word, 0.0) for word in own_words])
        if total:
            scores[path] = sum([rarity[word] * words.get(word, 0.0) for word in own_words if word in rarity]) / total
    return scores


def _score_common_changes(commits: Sequence[Sequence[str]], mentions: Collection[str]) -> dict[str, float]:
    """Score files by the commits that change them together with named files; small and new ones count more."""
    scores: defaultdict[str, float] = defaultdict(float)
    for at, commit in enumerate(commits):
        if len(commit) <= _MAX_COMMIT_FILES:
            for path in commit:
                if any([other in mentions for other in commit if other != path]):
                    scores[path] += 1 / (1 + at / _COMMIT_HALF_LIFE) / len(commit)
    return scores


def _add_neighbors(
    project: Project, files: Collection[str], scores: dict[str, float], reasons: dict[str, tuple[float, str]]
) -> None:
    """Raise the scores of what the best files import, of what imports them, and of their tests."""
    index = ImportIndex(files)
    seeds = sorted(scores, key=lambda path: (-scores[path], path))[:_SEEDS]
    neighbors = [(path, other, f"{path} imports it") for path in seeds for other in _imports(project, index, path)]
    neighbors += [(path, other, f"has the tests of {path}") for path in seeds for other in index.tests_of(path)]
    stems = "|".join(sorted({re.escape(file_stem(path)) for path in seeds}))
    for importer, line in _search(project, f"{IMPORT_PATTERN}.*\\b(?:{stems})\\b" if stems else ""):
        neighbors += [
            (path, importer, f"imports {path}") for path in index.imported_files(importer, line) if path in seeds
        ]
    added: dict[str, tuple[float, str]] = {}
    for path, other, reason in neighbors:
        if other in files:
            added[other] = max(added.get(other, (0.0, "")), (_NEIGHBOR_SHARE * scores[path], reason))
    for path, (part, reason) in added.items():
        scores[path] += part
        reasons[path] = max(reasons.get(path, (0.0, "")), (part, reason))


def _imports(project: Project, index: ImportIndex, path: str) -> set[str]:
    try:
        data, _ = file_access.read(os.path.join(project.root, path), _MAX_SEED_BYTES)
    except ExecplanError:
        return set()
    return {
        other
        for line in data.decode("utf-8", "replace").split("\n")
        for other in index.imported_files(path, line[:500])
    }


def _search(project: Project, pattern: str, *options: str) -> list[tuple[str, str]]:
    """Return the lines of tracked files that match a pattern, or with `-o` the matches, each with its path."""
    args = ("grep", "-I", "-z", "--no-color", "--full-name", "-P", *options, "-e", pattern, "--", ":/", ":!*.md")
    output = _query(project, *args) if pattern else ""
    return [(path, line) for path, _, line in [match.partition("\0") for match in output.split("\n")] if line]


def _read_commits(project: Project) -> list[list[str]]:
    """Return the files of the last commits, newest first, without root commits, which import everything."""
    args = (
        "-n",
        str(_MAX_COMMITS),
        "--min-parents=1",
        "--max-parents=1",
        "--name-only",
        "--no-renames",
        "--no-show-signature",
    )
    output = _query(project, "-c", "diff.relative=false", "log", "-z", *args, "--format=%x01")
    return [[path for path in commit.replace("\n", "").split("\0") if path] for commit in output.split("\1")[1:]]


def _query(project: Project, *args: str) -> str:
    """Return the output of git; nothing if git can't answer, or finds nothing."""
    if project.git is None:
        return ""
    try:
        return os.fsdecode(git_query.output_or_none(project, *args, no_status=1, limit=_TIMEOUT) or b"")
    except ExecplanError:
        return ""
