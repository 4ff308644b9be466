"""Check names, docstrings, comments, printed texts and pages against the vocabulary in `scripts/words.toml`.

`words.py` prints each problem as `path:line: message` and exits 1 if there is one. `words.py --count` prints, for each
top-level directory, how many bound names there are and how many of them are vague.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("execplan", "scripts", "tests")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "templates/**/*.md")
SHORTEST_SENTENCE = 4
"""Minimum number of words in the first sentence of a docstring."""

_CODE_BLOCK = re.compile(r"^ *(````*)[^`\n]*\n.*?^ *\1`* *$|^    [^\n]*$", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"`[^`\n]*`")

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Vocabulary(NamedTuple):
    """The vocabulary rules in `words.toml`."""

    vague: frozenset[str]
    """Names that do not describe the value, in lower case and without underscores around them."""
    retired: dict[str, str]
    """Retired phrases in prose, in lower case, each with its replacement."""
    printed: dict[str, str]
    """Phrases that are retired only in printed texts and pages, each with its replacement."""
    allowed: dict[str, frozenset[str]]
    """Vague names or retired phrases that are allowed in a place: a file or a directory, and the names."""
    parallel: frozenset[str]
    """Basenames that several packages share because the files have the same role."""
    unfinished: tuple[str, ...]
    """Files and directories whose prose is not checked yet."""


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the vocabulary; raises KeyError if a table is missing."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return Vocabulary(
        frozenset(tables["vague"]["names"].split()),
        tables["retired"],
        tables["printed"],
        {path_prefix: frozenset(names) for path_prefix, names in tables["allowed"].items()},
        frozenset(tables["parallel"]["basenames"]),
        tuple(tables["unfinished"]["prose"]),
    )


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every name that the code binds, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def prose(source: str, tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every docstring and every comment, with its first line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value, node.lineno
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string, token.start[0]


def printed_texts(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every string with a space that is not a docstring, with its line: messages, help and other printed text."""
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            if " " in node.value.strip():
                yield node.value, node.lineno


def first_sentence(docstring: str) -> str:
    """Return a docstring's text up to the first period, question mark or blank line."""
    return re.split(r"[.?](?:\s|$)|\n\s*\n", docstring.strip(), maxsplit=1)[0]


def check_file(path: str, source: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the problems with one file's names and prose."""
    tree = ast.parse(source)
    allowed = _allowed_in(path, vocabulary)
    for name, line in bound_names(tree):
        bare = name.strip("_").lower()
        if bare in vocabulary.vague and bare not in allowed:
            yield f"{path}:{line}: the name {name!r} does not say what it holds or does"
    if path.startswith(vocabulary.unfinished):
        return
    retired = {phrase: better for phrase, better in vocabulary.retired.items() if phrase not in allowed}
    for text, line in prose(source, tree):
        yield from retired_phrases(path, text, line, retired)
    if path.startswith("execplan/"):
        retired |= {phrase: better for phrase, better in vocabulary.printed.items() if phrase not in allowed}
        for text, line in printed_texts(tree):
            yield from retired_phrases(path, text, line, retired)
    for node in ast.walk(tree):
        docstring = ast.get_docstring(node) if isinstance(node, Definition) else None
        is_help = path.startswith("execplan/cli/commands/") and getattr(node, "decorator_list", None)
        if docstring is not None and not is_help and len(first_sentence(docstring).split()) < SHORTEST_SENTENCE:
            line = getattr(node, "lineno", 1)
            yield f"{path}:{line}: the docstring's first sentence has fewer than {SHORTEST_SENTENCE} words"


def check_page(path: str, markdown: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the retired phrases in a page, outside code."""
    allowed = _allowed_in(path, vocabulary)
    retired = vocabulary.retired | vocabulary.printed
    text = _CODE_BLOCK.sub(lambda match: "\n" * match[0].count("\n"), markdown)
    yield from retired_phrases(
        path, text, 1, {phrase: better for phrase, better in retired.items() if phrase not in allowed}
    )


def retired_phrases(path: str, text: str, line: int, retired: dict[str, str]) -> Iterator[str]:
    """Yield each retired phrase of a text that starts on a line; code spans are not read."""
    text = _CODE_SPAN.sub("``", text)
    for phrase, better in retired.items():
        for match in re.finditer(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE):
            yield f"{path}:{line + text[: match.start()].count(chr(10))}: {phrase!r} is retired: write {better}"


def check_basenames(paths: Iterable[str], vocabulary: Vocabulary) -> Iterator[str]:
    """Yield every basename that two modules of the package share, except those with parallel roles."""
    by_name = defaultdict(list)
    for path in paths:
        if path.startswith("execplan/"):
            by_name[Path(path).name].append(path)
    for name, module_paths in sorted(by_name.items()):
        roles = {Path(module_path).parent.name for module_path in module_paths}
        if len(module_paths) > 1 and name not in vocabulary.parallel and not roles & {"commands", "formats"}:
            yield f"{module_paths[1]}:1: the basename is also that of {module_paths[0]}: name each for what it contains"


def count_names(paths: Iterable[str], vocabulary: Vocabulary) -> str:
    """Return a line for each top-level directory: bound names, and how many of them are vague."""
    bound, vague = Counter[str](), Counter[str]()
    for path in paths:
        for name, _ in bound_names(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            bound[path.split("/")[0]] += 1
            vague[path.split("/")[0]] += name.strip("_").lower() in vocabulary.vague
    return "\n".join([f"{folder}: {vague[folder]:,} of {bound[folder]:,} names are vague" for folder in bound])


def _allowed_in(path: str, vocabulary: Vocabulary) -> set[str]:
    return {name for path_prefix, names in vocabulary.allowed.items() if path.startswith(path_prefix) for name in names}


def main(arguments: list[str]) -> int:
    """Print the problems in all files, or the counts."""
    vocabulary = read_vocabulary(ROOT / "scripts" / "words.toml")
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    paths = [str(path.relative_to(ROOT)) for path in files]
    if "--count" in arguments:
        print(count_names(paths, vocabulary))
        return 0
    problems = list(check_basenames(paths, vocabulary))
    for path in paths:
        problems += check_file(path, (ROOT / path).read_text(encoding="utf-8"), vocabulary)
    for page in sorted(page for pattern in PAGES for page in ROOT.glob(pattern)):
        path = str(page.relative_to(ROOT))
        if not path.startswith(vocabulary.unfinished):
            problems += check_page(path, page.read_text(encoding="utf-8"), vocabulary)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
