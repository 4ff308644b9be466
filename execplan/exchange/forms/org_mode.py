"""Headlines and checkboxes of an Org file that have a state."""

from __future__ import annotations

import re
from typing import NamedTuple

from execplan.exchange.exchange_plan import BEGUN, DONE, DROPPED, OPEN, ExchangePlan, ExchangeTask, ensure_unique_ids
from execplan.exchange.field_values import clean_id, clean_text, one_line, parse_date
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import SourceFile
from execplan.exchange.status_mapping import state_of

_HEADLINE = re.compile(r"(\*+)[ \t]+(.*)")
_BOX = re.compile(r"([ \t]*)(?:[-+]|\d+[.)])[ \t]+(?:\[@\d+\][ \t]+)?\[([ Xx-])\](?:[ \t]+(.*)|$)")
_SETTING = re.compile(r"#\+(\w+):[ \t]*(.*)")
_PROPERTY = re.compile(r"[ \t]*:([\w-]+):[ \t]*(.*)")
_PLANNING = re.compile(r"(CLOSED|DEADLINE|SCHEDULED):[ \t]*[\[<](\d{4}-\d{2}-\d{2})[^\]>]*[\]>]")
_TAGS = re.compile(r"[ \t]+:([\w@#%:]+):[ \t]*$")
_PRIORITY = re.compile(r"\[#([A-Z0-9]+)\][ \t]*")
_COOKIE = re.compile(r"[ \t]*\[\d*(?:/\d*|%)\]")
_LINK = re.compile(r"\[\[([^\]\[]+)\](?:\[([^\]\[]+)\])?\]")
_BLOCK = re.compile(r"[ \t]*#\+(begin|end)_(\w+)", re.IGNORECASE)
_ID_NAMES = ("ID", "CUSTOM_ID")
_SUFFIX = ".org"
_BEGUN_WORDS = frozenset("NEXT STARTED WAIT WAITING HOLD INPROGRESS IN-PROGRESS DOING".split())
_DROPPED_WORDS = frozenset("KILL KILLED CANCELED CANCELLED DEFERRED REJECTED NO WONTFIX".split())


class _Entry(NamedTuple):
    """A headline or a checkbox with a state."""

    task: ExchangeTask
    level: int
    """Stars of the headline; more for a checkbox below it."""
    line: int
    notes: list[str]


def recognizes(source: SourceFile) -> bool:
    """Return whether the file has the suffix of Org, or a headline with a state."""
    if source.name.casefold().endswith(_SUFFIX):
        return True
    return not source.name.casefold().endswith(".md") and any(
        [re.match(r"\*+ (TODO|DONE) ", line) is not None for line in source.lines]
    )


def read(source: SourceFile) -> ExchangePlan:
    """Return the headlines with a state as tasks, and the checkboxes below them."""
    words = _state_words(source.lines)
    title = ""
    entries: list[_Entry] = []
    group = ""
    block = ""
    level = 0
    for number, line in enumerate(source.lines, 1):
        mark = _BLOCK.match(line)
        if mark is not None:
            block = mark[2] if mark[1].casefold() == "begin" else ""
        headline = _HEADLINE.fullmatch(line) if not block else None
        box = _BOX.fullmatch(line) if not block else None
        setting = _SETTING.fullmatch(line.strip()) if not block else None
        if setting is not None and setting[1].upper() == "TITLE":
            title = clean_text(setting[2]) if setting[2].strip() else title
        elif headline is not None:
            level = len(headline[1])
            task = _read_headline(headline[2], words)
            group = group if task is not None or level > 1 else clean_text(_TAGS.sub("", headline[2]))
            if task is not None:
                entries.append(_Entry(task._replace(group=group), level, number, []))
            else:
                entries.append(_Entry(ExchangeTask("", ""), level, number, []))
        elif box is not None:
            entries.append(_read_box(box, level, number, group))
        elif entries and setting is None:
            entries[-1] = _add_line(entries[-1], line)
    return _make_plan(source, title, entries)


def _make_plan(source: SourceFile, title: str, entries: list[_Entry]) -> ExchangePlan:
    tasks: list[ExchangeTask] = []
    places: list[str] = []
    levels: list[int] = []
    for entry in entries:
        while levels and levels[-1] >= entry.level:
            levels.pop()
        if not entry.task.state:
            continue
        notes = quote_notes("\n".join(entry.notes))
        tasks.append(entry.task._replace(depth=len(levels), notes=notes, group=entry.task.group if not levels else ""))
        places.append(f"line {entry.line}")
        levels.append(entry.level)
    ensure_unique_ids(source.name, tasks, places)
    return ExchangePlan(title, tuple(tasks))


def _state_words(lines: list[str]) -> dict[str, str]:
    """Return the states of tasks by the words of the file's settings, or of Org."""
    words = {"TODO": OPEN, "DONE": DONE}
    for line in lines:
        setting = _SETTING.fullmatch(line.strip())
        if setting is None or setting[1].upper() not in ("TODO", "SEQ_TODO", "TYP_TODO"):
            continue
        names = [re.sub(r"\(.*\)", "", name) for name in setting[2].split()]
        end = names.index("|") if "|" in names else len(names) - 1
        for at, name in enumerate(names):
            if name != "|" and name:
                words[name] = _state_of_word(name, is_done=at >= end, is_first=at == 0)
    return words


def _state_of_word(name: str, *, is_done: bool, is_first: bool) -> str:
    if is_done:
        return DROPPED if name in _DROPPED_WORDS or state_of(name) == DROPPED else DONE
    return BEGUN if name in _BEGUN_WORDS or (not is_first and state_of(name) == BEGUN) else OPEN


def _read_headline(source: str, words: dict[str, str]) -> ExchangeTask | None:
    """Return a headline as a task, or None if it has no state."""
    word, _, text = source.partition(" ")
    if word not in words:
        return None
    tags = _TAGS.search(f" {text}")
    text = _TAGS.sub("", f" {text}").strip()
    priority = _PRIORITY.match(text)
    text = _PRIORITY.sub("", text, count=1) if priority is not None else text
    return ExchangeTask(
        clean_text(_plain(text)),
        words[word],
        priority=priority[1] if priority is not None else "",
        labels=tuple(tags[1].split(":")) if tags is not None else (),
    )


def _read_box(box: re.Match[str], level: int, number: int, group: str) -> _Entry:
    state = {" ": OPEN, "-": BEGUN}.get(box[2], DONE)
    indent = len(box[1].expandtabs(8))
    return _Entry(
        ExchangeTask(clean_text(_plain(box[3] or "")), state, group=group), 1000 * level + indent + 1, number, []
    )


def _plain(text: str) -> str:
    """Return a text with the links of markdown, and without counts of checkboxes."""
    return _LINK.sub(lambda match: f"[{match[2]}]({match[1]})" if match[2] else match[1], _COOKIE.sub("", text))


def _add_line(entry: _Entry, line: str) -> _Entry:
    """Return an entry with a line below it: dates, a property, or text."""
    dates = dict(_PLANNING.findall(line))
    task = entry.task
    if dates:
        done_at = parse_date(dates.get("CLOSED")) if task.state == DONE else ""
        due = parse_date(dates.get("DEADLINE"))
        return entry._replace(task=task._replace(done_at=done_at or task.done_at, due=due or task.due))
    field = _PROPERTY.fullmatch(line)
    if field is not None:
        name, value = field[1].upper(), field[2].strip()
        if name in _ID_NAMES and value and not task.id:
            task = task._replace(id=clean_id(value))
        if name == "ASSIGNEE" and value:
            task = task._replace(assignee=one_line(value))
        return entry._replace(task=task)
    entry.notes.append(line)
    return entry
