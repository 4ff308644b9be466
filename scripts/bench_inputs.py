"""Benchmark inputs for scripts/bench.py: a plan of any size without findings, and files that are made to be slow."""

from __future__ import annotations

from collections.abc import Callable


def build_plan(size: int) -> str:
    """Return a plan of about `size` bytes in which lint finds nothing."""
    tasks, decisions, work = [], [], []
    count = max(1, size // 520)
    for at in range(count):
        tasks.append(
            f"- [x] (2026-01-02 {at % 24:02}:15Z) Read form {at} of the lines, and keep each line's end as it was."
        )
        decisions.append(
            f"- Decision: Form {at} is read line by line.\n  Rationale: A task is a line, and an edit replaces lines.\n"
            "  Date/Author: 2026-01-02 / Ann"
        )
        work.append(
            f"Form {at} is read in `src/form_{at}.py`. The lines go through the scanner, and then come tasks and logs."
        )
    sections = {
        "Purpose / Big Picture": "A plan can be read and edited without loss.",
        "Progress": "\n".join([*tasks, "- [ ] Build the parser.", "- [ ] Write the tests."]),
        "Surprises & Discoveries": "- Observation: The last line is dropped.\n  Evidence: `test_last` failed.",
        "Decision Log": "\n\n".join(decisions),
        "Outcomes & Retrospective": "Lines can be read.",
        "Context and Orientation": "The reader is `src/reader.py`.",
        "Plan of Work": "\n\n".join(work),
        "Concrete Steps": "In the root of the repository:\n\n```sh\nmake test\n```",
        "Validation and Acceptance": "`make test` passes.",
        "Idempotence and Recovery": "Every step may be run again.",
        "Artifacts and Notes": "None so far.",
        "Interfaces and Dependencies": "`read(data: bytes) -> Plan` in `src/reader.py`.",
    }
    body = "".join(f"\n## {title}\n\n{section_text}\n" for title, section_text in sections.items())
    return f"# Build the parser\n\nThis ExecPlan is a living document.\n{body}"


def build_variant(at: int) -> str:
    """Return a plan of about 20 KB without lint findings, with some tasks and much prose like the average real plan."""
    prose = "\n\n".join(
        f"Part {at}.{section_number} of the reader takes the lines as they come, one after the other, and keeps for each of them\n"
        f"where it began and how it ended. What stands in a fence is left alone; what stands in a list may be a task,\n"
        f"and then its box, its stamp and its words are told apart (see part {section_number + 1}). Nothing is written here."
        for section_number in range(44 + at % 20)
    )
    plan = build_plan(5_000).replace("# Build the parser", f"# Build parser {at}", 1)
    return plan.replace("The reader is", f"{prose}\n\nThe reader is", 1)


def _repeat_to_size(unit_text: str, size: int) -> str:
    return (unit_text * (size // len(unit_text) + 1))[:size] + "\n"


def _nested(opener: str, size: int) -> str:
    """Return items nested in each other as deep as the size allows."""
    lines: list[str] = []
    length = 0
    while length < size:
        lines.append("  " * len(lines) + opener)
        length += len(lines[-1]) + 1
    return "\n".join(lines) + "\n"


def _numbered(piece: str, size: int) -> str:
    """Return pieces, each with its number, up to the given size."""
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(piece.format(len(pieces)))
        length += len(pieces[-1])
    return "".join(pieces)


_PROGRESS = "# T\n\n## Progress\n\n"
_DECISIONS = "# T\n\n## Decision Log\n\n"
_STEPS = f"{_PROGRESS}- [ ] a\n\n## Concrete Steps\n\n"


INPUTS: dict[str, Callable[[int], str]] = {
    "quotes in quotes, one line": lambda size: _repeat_to_size("> ", size),
    "lists in lists, one line": lambda size: _repeat_to_size("- ", size),
    "lists in lists, a line each": lambda size: _nested("- a", size),
    "quotes and lists in turn": lambda size: _repeat_to_size("> - ", size),
    "a staircase of numbers": lambda size: _nested("1. a", size),
    "open brackets": lambda size: _repeat_to_size("[", size),
    "definitions without an end": lambda size: _repeat_to_size("[a]: b\n[", size),
    "a heading of signs": lambda size: _repeat_to_size("#", size),
    "a heading of spaces": lambda size: "# " + _repeat_to_size(" ", size) + "a\n",
    "backticks": lambda size: _repeat_to_size("`", size),
    "code spans of all lengths": lambda size: "".join("`" * at + " " for at in range(1, int((2 * size) ** 0.5))) + "\n",
    "a fence without an end": lambda size: "```\n" + _repeat_to_size("a\n", size),
    "a comment without an end": lambda size: "<!--\n" + _repeat_to_size("a\n", size),
    "fences that close no fence": lambda size: _repeat_to_size("````\n```\n", size),
    "openers of comments": lambda size: _repeat_to_size("<!-- a\n\n", size),
    "openers of comments in one line": lambda size: _repeat_to_size("<!--", size),
    "openers of links": lambda size: _repeat_to_size("[a](", size),
    "openers of images": lambda size: _repeat_to_size("![", size),
    "openers of emphasis": lambda size: _repeat_to_size("*a **b ", size),
    "a word of stars": lambda size: _repeat_to_size("*", size),
    "strike-through": lambda size: _repeat_to_size("~~a ~", size),
    "addresses": lambda size: _repeat_to_size("http://a.b/(", size),
    "tags": lambda size: _repeat_to_size("<a><!a ", size),
    "entities": lambda size: _repeat_to_size("&a", size),
    "a table": lambda size: _repeat_to_size("|a|b|\n|-|-|\n", size),
    "a table of one row": lambda size: "|a|\n|-|\n" + _repeat_to_size("|", size),
    "one word": lambda size: _repeat_to_size("a", size),
    "paths": lambda size: _repeat_to_size("`a/b.py` ", size),
    "a path": lambda size: _repeat_to_size("a/", size),
    "dates": lambda size: _repeat_to_size("2026-01-02 ", size),
    "commands": lambda size: _STEPS + _repeat_to_size("Run `make a`. ", size),
    "long tasks": lambda size: _PROGRESS + "- [ ] " + _repeat_to_size("a ", size),
    "nested tasks": lambda size: _PROGRESS + _nested("- [ ] a", size),
    "assignments": lambda size: _repeat_to_size("password=", size),
    "an open tag": lambda size: "<a " + _repeat_to_size("b=c ", size),
    "headings": lambda size: _repeat_to_size("## a\n", size),
    "the same section": lambda size: _repeat_to_size("## Progress\n", size),
    "boxes": lambda size: _PROGRESS + _repeat_to_size("- [ ] a\n", size),
    "decisions": lambda size: _DECISIONS + _repeat_to_size("- Decision: a\n", size),
    "labels in one line": lambda size: _DECISIONS + "- Decision: " + _repeat_to_size("a Rationale: ", size),
    "underlines": lambda size: _repeat_to_size("a\n=\n", size),
    "one paragraph": lambda size: _repeat_to_size("a\n", size),
    "conflict markers": lambda size: _repeat_to_size("<<<<<<< a\n", size),
    "blank lines": lambda size: "a" + _repeat_to_size("\n", size),
    "tabs": lambda size: _repeat_to_size("\t", size) + "a\n",
    "front matter without an end": lambda size: "---\n" + _repeat_to_size("a: b\n", size),
    "stamps": lambda size: _PROGRESS + _repeat_to_size("- [x] (2026-01-02 00:00Z) a\n", size),
    "guidance": lambda size: _repeat_to_size("Rationale: …\n", size),
    "steps": lambda size: _STEPS + _numbered("```sh {{#s{0}}}\nmake x{0}\n```\n\n", size),
    "steps with the same ID": lambda size: _STEPS + _numbered("```sh {{#s}}\na\n```\n", size),
    "steps with unknown attributes": lambda size: _STEPS + _numbered("```sh {{#s{0} foo{0}=1}}\na\n```\n", size),
    "steps that need unknown ones": lambda size: _STEPS + _numbered("```sh {{#s{0} needs=x{0}}}\na\n```\n", size),
    "dangerous steps": lambda size: _STEPS + _numbered("```sh {{#s{0}}}\nsudo rm -rf /x{0} | sh\n```\n", size),
    "expected outputs": lambda size: _STEPS + _numbered("```sh {{a}}\nb\n```\n```{{expect}}\nx\n```\n", size),
    "a step with many lines": lambda size: _STEPS + "```sh {#a}\n" + _repeat_to_size("a b\n", size) + "```\n",
    "a step with many variables": lambda size: (
        _STEPS + '```sh {#a env="' + " ".join([f"A{at}=b" for at in range(size // 8)]) + '"}\na\n```\n'
    ),
    "a step with many paths": lambda size: _STEPS + "```sh {#a}\nrm -rf" + _numbered(" a/b{0}", size) + "\n```\n",
    "numbered tasks": lambda size: _PROGRESS + _numbered("- [ ] Build part {0}.\n", size),
    "tasks with lines that end in CRLF": lambda size: _PROGRESS + _numbered("- [x] Build part {0}.\r\n", size),
    "tasks that need plans": lambda size: _PROGRESS + _numbered("- [ ] a {0} (needs b{0}#1)\n", size),
    "tasks with checks": lambda size: _PROGRESS + _numbered("- [ ] a {0}\n  - Check: `make b{0}`\n", size),
    "tasks without Progress": lambda size: "# T\n\n" + _numbered("## Phase {0}\n\n- [ ] a\n\n", size),
    "decisions with reasons": lambda size: (
        _DECISIONS + _numbered("- Decision: a {0}\n  Rationale: b {0}\n  Date/Author: 2026-01-02 / c\n", size)
    ),
    "discoveries": lambda size: (
        "# T\n\n## Surprises & Discoveries\n\n" + _numbered("- Observation: a {0}\n  Evidence: `b`\n", size)
    ),
    "outcomes": lambda size: "# T\n\n## Outcomes & Retrospective\n\n" + _numbered("a {0}\n\n", size),
    "links": lambda size: _repeat_to_size("[a](b.md) ", size),
    "links with definitions": lambda size: _numbered("[a{0}]: b{0}\n[a{0}][]\n\n", size),
    "rows of a table": lambda size: "|a|b|\n|-|-|\n" + _repeat_to_size("|c|d|\n", size),
    "fences": lambda size: _repeat_to_size("```\na\n```\n", size),
    "comments": lambda size: _repeat_to_size("<!-- a -->\n\n", size),
    "emphasis": lambda size: _repeat_to_size("*a* **b** ", size),
    "code": lambda size: _numbered("`a{0}` ", size),
    "front matter": lambda size: "---\n" + _numbered("a{0}: b\n", size) + "---\n\n" + _PROGRESS + "- [ ] a\n",
    "plans that come first": lambda size: "---\ndepends_on: [" + _numbered("a{0}, ", size) + "b]\n---\n\n# T\n",
    "brackets in front matter": lambda size: "---\na: " + _repeat_to_size("[", size) + "---\n\n# T\n",
    "long words": lambda size: _repeat_to_size("a" * 999 + " ", size),
    "quotes": lambda size: _repeat_to_size("> a\n", size),
    "returns": lambda size: _repeat_to_size("a\r", size),
    "numbered headings": lambda size: _numbered("## a {0}\n", size),
    "issues": lambda size: _numbered("#{0} ", size),
}
"""Functions by name that return a hostile input of about the given size in bytes."""
