"""Words of commands in messages."""

from __future__ import annotations

import shlex

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.text.message_parts import quote


@given(st.text())
@example("it's a plan")
@example("docs/plans/a_b@c%+=:,.md")
def test_a_quoted_word_is_one_for_a_shell(word: str) -> None:
    assert quote(word) == shlex.quote(word)
