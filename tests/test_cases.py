"""Cases as data: a plan before, a command, the plan after; `tests/cases/*.md`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import Folder

CASES = Path(__file__).parent / "cases"


class Case(NamedTuple):
    """One case."""

    name: str
    command: list[str]
    before: bytes
    after: bytes


def read_cases(path: Path) -> list[Case]:
    """The cases of a file; a title inside a plan has an `@` before it."""
    cases = []
    for chunk in ("\n" + path.read_text(encoding="utf-8")).split("\n# ")[1:]:
        head, before, after = chunk.replace("~~~ after", "~~~ before").split("~~~ before")
        name, _, command = head.partition("\n")
        arguments = shlex.split(command.replace("\\n", "\n"))
        cases.append(Case(name, arguments, _body(before), _body(after)))
    return cases


def _body(text: str) -> bytes:
    kind, _, rest = text.partition("\n")
    body = rest[: rest.rindex("~~~")].replace("\n@", "\n").removeprefix("@")
    return (body[:-1] if "without final newline" in kind else body).encode()


ALL_CASES = [pytest.param(case, id=case.name) for path in sorted(CASES.glob("*.md")) for case in read_cases(path)]


@pytest.mark.parametrize("case", ALL_CASES)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_case(plain: Folder, case: Case, end: bytes) -> None:
    path = plain.plan(case.before.replace(b"\n", end))
    data = plain.ok(*case.command)
    assert path.read_bytes() == case.after.replace(b"\n", end)
    assert data["changed"] is True
    repeated = plain.ok(*case.command)
    assert repeated["changed"] is False
    assert path.read_bytes() == case.after.replace(b"\n", end)
