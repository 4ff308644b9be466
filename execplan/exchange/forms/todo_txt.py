"""Tasks in the format of todo.txt: one in each line."""

from __future__ import annotations

import re

from execplan.exchange.exchange_plan import DONE, OPEN, ExchangePlan, ExchangeTask, ensure_unique_ids
from execplan.exchange.field_values import clean_id, clean_text, parse_date
from execplan.exchange.source_file import SourceFile

_DATE = r"\d{4}-\d{2}-\d{2}"
_LINE = re.compile(rf"(?P<done>x )?(?:\((?P<priority>[A-Z])\) )?(?P<first>{_DATE} )?(?P<second>{_DATE} )?(?P<text>.*)")
_PAIR = re.compile(r"(?:^| )(id|due|p|pri):([^\s:]\S*)")
_NAME = "todo.txt"


def recognizes(source: SourceFile) -> bool:
    """Return whether the file has the name of a list of todo.txt, or most of its lines have a mark of the format."""
    if source.name.casefold() in (_NAME, "done.txt") or source.name.casefold().endswith(".todo.txt"):
        return True
    lines = [line for line in source.lines if line.strip()]
    marked = [line for line in lines if re.match(rf"x {_DATE}|\([A-Z]\) \S|{_DATE} \S", line)]
    return source.name.casefold().endswith(".txt") and len(marked) * 2 > len(lines)


def read(source: SourceFile) -> ExchangePlan:
    """Return a task for each line; `id:` and `due:` are its ID and its due date, and projects and contexts its labels."""
    tasks, places = [], []
    for number, line in enumerate(source.lines, 1):
        if line.strip():
            tasks.append(_read_line(line.strip()))
            places.append(f"line {number}")
    ensure_unique_ids(source.name, tasks, places)
    return ExchangePlan("", tuple(tasks))


def _read_line(line: str) -> ExchangeTask:
    match = _LINE.fullmatch(line)
    assert match is not None  # any text matches
    pairs = dict(_PAIR.findall(match["text"]))
    text = _PAIR.sub("", match["text"]).strip()
    words = [word for word in text.split() if word[0] in "+@" and len(word) > 1]
    is_done = match["done"] is not None
    return ExchangeTask(
        clean_text(text or match["text"]),
        DONE if is_done else OPEN,
        id=clean_id(pairs.get("id")),
        done_at=parse_date((match["first"] or "").strip()) if is_done else "",
        priority=match["priority"] or pairs.get("pri", ""),
        due=parse_date(pairs.get("due")),
        labels=tuple(words),
        needs=tuple(filter(None, [clean_id(pairs.get("p"))])),
    )
