"""File names from titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.project.slug import MAX_LENGTH, slug


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Build the parser", "build-the-parser"),
        ("  Fix: user's C# / .NET code!  ", "fix-users-c-net-code"),
        ("../../etc/passwd", "etc-passwd"),
        ("Über straße", "uber-strasse"),
        ("진행 상황", "jinhaeng-sanghwang"),
        ("执行计划", "zhixingjihua"),
        ("Разбор", "razbor"),
    ],
)
def test_slug(title: str, name: str) -> None:
    assert slug(title) == name


def test_titles_without_a_letter_differ() -> None:
    assert slug("!!!") != slug("???")
    assert slug("!!!").startswith("plan-")


@given(st.text(min_size=1))
def test_every_title_has_a_name(title: str) -> None:
    title = title.encode("utf-8", "replace").decode()
    name = slug(title)
    assert name == slug(title)
    assert 0 < len(name) <= MAX_LENGTH
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
