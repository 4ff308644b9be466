"""The entry of the guard in JSON of any form: put in, found, taken out to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.agents.integrations import hook_entry, json_edits
from execplan.agents.integrations.guard_hook import hook_handler

OUR_HANDLER = hook_handler("claude")
OTHER_GROUP: dict[str, Any] = {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint.sh"}]}
BOM = "\ufeff"
FORMS = {
    "nothing": "",
    "blank": "\n",
    "blank, crlf": "  \r\n",
    "bom alone": BOM,
    "empty": "{}",
    "empty, end": "{}\n",
    "empty, blank": "{ }\n",
    "empty, two lines": "{\n}\n",
    "empty, three lines": "{\n\n}",
    "bom": BOM + '{\n  "model": "x"\n}\n',
    "no hooks": '{\n  "permissions": {"allow": ["Bash(ls)"]}\n}\n',
    "no hooks, four": '{\n    "model": "x",\n    "env": {}\n}',
    "no hooks, tabs": '{\n\t"model": "x"\n}\n',
    "no hooks, flush": '{\n"model": "x"\n}\n',
    "no hooks, crlf": '{\r\n  "model": "x"\r\n}\r\n',
    "no hooks, cr": '{\r  "model": "x"\r}\r',
    "one line": '{"model": "x"}\n',
    "one line, tight": '{"model":"x","env":{}}',
    "one line, wide": '{ "model" : "x" , "hooks" : { } }',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "empty hooks, wide": '{\n  "hooks": {\n  },\n  "model": "x"\n}\n',
    "empty hooks, one line": '{"hooks":{}}',
    "other event": '{\n  "hooks": {\n    "Stop": [{"hooks": []}]\n  }\n}\n',
    "empty array": '{\n  "hooks": {\n    "PreToolUse": []\n  }\n}\n',
    "empty array, wide": '{\n  "hooks": {\n    "PreToolUse": [ \n    ],\n    "Stop": []\n  }\n}\n',
    "empty array, one line": '{"hooks": {"PreToolUse": []}}',
    "others": json.dumps({"hooks": {"PreToolUse": [OTHER_GROUP, OTHER_GROUP], "Stop": []}, "model": "x"}, indent=2),
    "others, one line": json.dumps({"hooks": {"PreToolUse": [OTHER_GROUP]}}),
    "others, mixed": '{\n  "hooks": {"PreToolUse": [{"hooks": []}\n,\n  {"hooks": []}]}}',
    "comma first": '{\n  "hooks": {\n    "Stop": []\n    ,"PreToolUse": []\n  , "x": 1}\n  , "model": "x"\n}\n',
    "words": '{"a": "{\\"hooks\\": [1, 2]}", "\\u0068ooks2": "ä 😀 \\ud800", "n": [-1.5e-3, 1E400]}',
    "long number": '{"n": ' + "9" * 5000 + "}",
}
REFUSED = {
    '{"a": 1,\n "b": 2,\n}': (3, "double quotes"),
    '{\n  // mine\n  "a": 1}': (2, "comment"),
    '{"a": 1} /* x */': (1, "comment"),
    '{\n"hooks": {},\n"hooks": {}}': (3, "duplicate key"),
    '{"a": {"b": 1, "\\u0062": 2}}': (1, "duplicate key"),
    "[]": (1, "not an object"),
    "1": (1, "not an object"),
    '{"hooks": []}': (1, "hooks is not an object"),
    '{"hooks": null}': (1, "hooks is not an object"),
    '{"hooks":\n{"PreToolUse": {}}}': (2, "hooks.PreToolUse is not an array"),
    '{"a": NaN}': (1, "value"),
    '{"a": 01}': (1, "comma"),
    '{"a": "x\ny"}': (1, "value"),
    '{"a": "\\x"}': (1, "value"),
    '{"a" 1}': (1, "colon"),
    '{"a": 1 "b": 2}': (1, "comma"),
    '{"a": [1, 2}': (1, "comma or ]"),
    '{"a": 1} {}': (1, "unexpected text after the end"),
    '{"a": ': (1, "value"),
    "{": (1, "double quotes"),
    '{"a": 1\x00}': (1, "comma"),
    "[" * 5000: (1, "nested"),
    '{"a": "' + "\\" * 50_001: (1, "value"),
}


def add_and_check(text: str) -> str:
    """The text with the entry, after it was looked at."""
    new = hook_entry.add_entry(text, hook_entry.GUARD, OUR_HANDLER)
    settings = json.loads(new.removeprefix(BOM))
    (entry,) = hook_entry.find_entries(new, hook_entry.GUARD)
    assert not entry.is_edited
    assert entry.bare_handler == OUR_HANDLER
    first = settings["hooks"]["PreToolUse"].pop(0)
    assert list(first) == ["hooks"]
    old = json.loads(text.removeprefix(BOM)) if text.strip("\ufeff \r\n\t") else {}
    assert {"PreToolUse": [], **old.get("hooks", {})} == settings["hooks"]
    assert {**old, "hooks": 0} == {**settings, "hooks": 0}
    return new


def remove_and_check(text: str) -> str:
    """The text without its entry."""
    (entry,) = hook_entry.find_entries(text, hook_entry.GUARD)
    rest = hook_entry.remove_entry(text, entry)
    assert not hook_entry.find_entries(rest, hook_entry.GUARD)
    return rest


@pytest.mark.parametrize("form", [form for form in FORMS if form != "long number"])
def test_every_form_there_and_back(form: str) -> None:
    new = add_and_check(FORMS[form])
    assert remove_and_check(new) == FORMS[form]
    renewed = hook_entry.update_entry(
        new, hook_entry.find_entries(new, hook_entry.GUARD)[0], {**OUR_HANDLER, "timeout": 5}
    )
    assert hook_entry.find_entries(renewed, hook_entry.GUARD)[0].bare_handler["timeout"] == 5
    assert remove_and_check(renewed) == FORMS[form]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "long number"])
def test_what_codex_trusts_is_the_same_in_every_form(form: str) -> None:
    handler = hook_handler("codex")
    new = hook_entry.add_entry(FORMS[form], hook_entry.GUARD, handler)
    (entry,) = hook_entry.find_entries(new, hook_entry.GUARD)
    assert (entry.bare_handler, entry.is_edited, entry.is_in_place) == (handler, False, True)
    command = json.loads(new.removeprefix(BOM))["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert command == handler["command"]
    assert remove_and_check(new) == FORMS[form]


def test_what_python_can_not_read_is_not_read() -> None:
    assert (
        remove_and_check(hook_entry.add_entry(FORMS["long number"], hook_entry.GUARD, OUR_HANDLER))
        == FORMS["long number"]
    )


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_it_can_not_be_put_into_is_refused(text: str) -> None:
    line, message = REFUSED[text]
    with pytest.raises(json_edits.InvalidJsonError) as caught:
        hook_entry.add_entry(text, hook_entry.GUARD, OUR_HANDLER)
    assert str(caught.value).startswith(f":{line}: ")
    assert message in str(caught.value)


def test_it_is_laid_out_as_its_neighbours_are() -> None:
    lines = add_and_check(FORMS["no hooks, tabs"]).split("\n")
    assert lines[1:6] == ['\t"model": "x",', '\t"hooks": {', '\t\t"PreToolUse": [', "\t\t\t{", '\t\t\t\t"hooks": [']
    for text in ("", "{}"):
        assert add_and_check(text).removesuffix("\n") == json.dumps(json.loads(add_and_check(text)), indent=2)
    assert "\n" not in add_and_check(FORMS["one line, tight"])
    assert '"env":{},"hooks":{"PreToolUse":[{"hooks":[{"type":"command",' in add_and_check(FORMS["one line, tight"])
    assert (
        add_and_check(FORMS["no hooks, crlf"]).count("\n") == add_and_check(FORMS["no hooks, crlf"]).count("\r\n") > 10
    )
    assert '"PreToolUse": [\n      {\n        "hooks"' in add_and_check(FORMS["others"])


SPACE = st.sampled_from(["", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", "\r", " \n\n"])
PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
ANY_JSON = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
GROUPS = st.lists(
    st.just(OTHER_GROUP) | st.fixed_dictionaries({"hooks": st.lists(ANY_JSON, max_size=2)}) | ANY_JSON, max_size=3
)
HOOKS = st.fixed_dictionaries({}, optional={"Stop": GROUPS, "PreToolUse": GROUPS, "x": ANY_JSON})
SETTINGS = st.fixed_dictionaries({}, optional={"a": ANY_JSON, "hooks": HOOKS, "model": ANY_JSON, "z": ANY_JSON})


@st.composite
def texts(draw: st.DrawFn) -> str:
    """JSON texts with white space of any kind, or of one kind."""
    settings = draw(SETTINGS)
    if draw(st.booleans()):
        return json.dumps(settings, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=False)
    bom = draw(st.sampled_from(["", BOM]))
    return bom + draw(SPACE) + _spread(draw, settings) + draw(SPACE)


def _spread(draw: st.DrawFn, node: Any) -> str:
    if isinstance(node, dict):
        members = [f"{json.dumps(key)}{draw(SPACE)}:{draw(SPACE)}{_spread(draw, item)}" for key, item in node.items()]
        return "{" + _joined(draw, members) + "}"
    return (
        "[" + _joined(draw, [_spread(draw, item) for item in node]) + "]"
        if isinstance(node, list)
        else json.dumps(node)
    )


def _joined(draw: st.DrawFn, members: list[str]) -> str:
    return ",".join([draw(SPACE) + member + draw(SPACE) for member in members]) if members else draw(SPACE)


@given(texts())
def test_any_text_there_and_back(text: str) -> None:
    assert remove_and_check(add_and_check(text)) == text


@given(texts(), st.integers(0, 3), st.sampled_from([None, 2, 4]), st.booleans())
def test_what_others_add_and_format_stays(text: str, index: int, indent: int | None, sort: bool) -> None:
    settings = json.loads(add_and_check(text).removeprefix(BOM))
    settings["hooks"]["PreToolUse"].insert(index, OTHER_GROUP)
    settings["new"] = True
    rest = json.loads(remove_and_check(json.dumps(settings, indent=indent, sort_keys=sort)))
    settings["hooks"]["PreToolUse"] = [
        group for group in settings["hooks"]["PreToolUse"] if "execplan" not in json.dumps(group)
    ]
    assert rest == settings


@given(texts())
def test_reformatting_keeps_the_content(text: str) -> None:
    new = json.dumps(json.loads(add_and_check(text).removeprefix(BOM)), indent=3)
    assert json.loads(remove_and_check(new)) == json.loads(text.removeprefix(BOM))


def test_a_command_that_others_put_into_our_group_stays() -> None:
    settings = json.loads(add_and_check("{}"))
    settings["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "more.sh"})
    rest = json.loads(remove_and_check(json.dumps(settings, indent=2)))
    assert rest == {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "more.sh"}]}]}}


@pytest.mark.parametrize(
    "edit",
    [
        lambda settings: settings["hooks"]["PreToolUse"][0]["hooks"][0].update(timeout=1),
        lambda settings: settings["hooks"]["PreToolUse"][0]["hooks"][0].pop("onFailure"),
        lambda settings: settings["hooks"]["PreToolUse"][0]["hooks"][0].update(
            command="true # execplan:guard 0 made 9"
        ),
        lambda settings: settings["hooks"]["PreToolUse"][0].update(matcher="Bash"),
        lambda settings: settings["hooks"]["PreToolUse"][0].update({"if": "Bash(rm *)"}),
        lambda settings: settings["hooks"].update(Stop=settings["hooks"].pop("PreToolUse")),
    ],
)
def test_an_edit_is_noticed(edit: Any) -> None:
    settings = json.loads(add_and_check('{"model": "x"}'))
    edit(settings)
    text = json.dumps(settings)
    assert hook_entry.find_entries(text, hook_entry.GUARD)[0].is_edited
    assert json.loads(remove_and_check(text))["model"] == "x"


@pytest.mark.parametrize("matcher", ["", "*", ".*"])
def test_a_matcher_of_every_tool_is_no_edit(matcher: str) -> None:
    settings = json.loads(add_and_check("{}"))
    settings["hooks"]["PreToolUse"][0]["matcher"] = matcher
    (entry,) = hook_entry.find_entries(json.dumps(settings), hook_entry.GUARD)
    assert not entry.is_edited


def test_hooks_of_another_form_are_passed_over() -> None:
    settings = {"hooks": {"PreToolUse": [1, {"hooks": [1, {"command": 2}, {"command": "execplan guard"}]}], "Stop": 3}}
    assert hook_entry.find_entries(json.dumps(settings), hook_entry.GUARD) == []
    assert hook_entry.is_installed_by_hand(json.dumps(settings), hook_entry.GUARD)
    assert not hook_entry.is_installed_by_hand('{"hooks": 1}', hook_entry.GUARD)
