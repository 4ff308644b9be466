from __future__ import annotations
import pytest
from execplan.agents.guard import decide
from execplan.agents.guard.match import Match, Matched
from tests.agents.guard.asking import Asking, PROGRAMS


def match(call, planned, around):
    found = [p.step["id"] for p in planned if p.step["command"] and p.step["command"] == call.command]
    return Matched(tuple(Match(each, ()) for each in found), nearest="build", why="it is another command")


def test_it(tmp_path, monkeypatch):
    monkeypatch.setattr(decide, "match", match)
    d = Asking(tmp_path / "r", monkeypatch)
    for p in PROGRAMS:
        print(d.ask("make parser", program=p))
    d.approve()
    for p in PROGRAMS:
        a = d.ask("make other", program=p)
        print(a.kind, a)
        a = d.ask("ls src", program=p)
        print(a.kind, a)
    a = d.ask("make parser")
    print(a.kind, a)
    a = d.ask("make parser")
    print(a.kind, a)
    a = d.ask("ls")
    print(a.kind, a)
    a = d.ask("execplan approve")
    print(a.kind, a)
    for e in d.entries():
        print(e)
    assert 0
