"""Which addresses of a plan become links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.views.site.link_resolver import ANCHOR, BLOCKED, EXTERNAL, PATH, classify_url
from tests.views.site.hostile_text import LINKS


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.example/b?c=d:e#f", EXTERNAL),
        ("HTTP://a.example", EXTERNAL),
        ("mailto:ann@example.org", EXTERNAL),
        ("#progress", ANCHOR),
        ("other.md", PATH),
        ("../docs/a%20b.md#part", PATH),
        ("/docs/a.md", PATH),
        ("a/b:c.md", PATH),
        ("src/x.py#L10:4", PATH),
        ("", BLOCKED),
        ("ftp://a.example", BLOCKED),
        ("c:\\x", BLOCKED),
    ],
)
def test_kinds(url: str, kind: str) -> None:
    assert classify_url(url) == kind


@pytest.mark.parametrize(
    "url", [link for link in LINKS if "script" in link.lower() and "&" not in link and "x>" not in link]
)
def test_no_form_of_a_script_is_a_link(url: str) -> None:
    assert classify_url(url) in (BLOCKED, EXTERNAL)
    assert classify_url(url) == BLOCKED or url.startswith("https:")


@given(
    st.sampled_from(["javascript:", "data:", "vbscript:", "file:"]),
    st.lists(st.sampled_from(["\t", "\n", "\r", " ", "\0", "\x1f", "\u200b", "\u2028", "%09", "%0A"]), max_size=6),
    st.integers(0, 11),
    st.booleans(),
)
def test_noise_in_a_scheme_does_not_hide_it(scheme: str, noise: list[str], position: int, upper: bool) -> None:
    text = scheme.upper() if upper else scheme
    position = min(position, len(text))
    assert classify_url(text[:position] + "".join(noise) + text[position:] + "x") == BLOCKED
