"""Every form of a secret is found, nothing readable is changed, and neither a cut, a color nor a hostile text changes that."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.secrets.all_secrets import find_secret_spans
from execplan.core.secrets.certain_secrets import mask_secrets
from execplan.core.secrets.redaction import REDACTED, Redactor
from execplan.core.secrets.service_tokens import find_tokens
from tests.core.secrets.secret_samples import Form, forms, readable, remaining_secret

REDACTION = Redactor({}, ())
TABLES = ("forms.tsv", "held_out.tsv", "gitleaks.tsv")
ALL_FORMS = [form for table in TABLES for form in forms(table)]
READABLE = [text for table in ("readable.tsv", "held_out_readable.tsv") for _, text in readable(table)]
COLORS = ("\x1b[01;31m\x1b[K", "\x1b[m", "\x1b]8;;x\x07", "\u200b")
PLAIN = st.text("abc def.,:;'\"()[]\n-#*é", max_size=40)
HOSTILE = (
    "a|password=|password:|token |ghp_|ghp_a1b2|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|eyJ|eyJ.|://a:b@|Bearer "
    '|<password>|\x1b[|\x1b]8;;|a_|"a",|"password", |kind: Secret\n|mysql -p|docker login |curl -u |--password |echo a \\| '
    "|$2a$|password is |name: password\nvalue: |secret: \\|\n |A1b2C3d4|QQ==|password=\"|token=${A:-|define('password', '"
    "|htpasswd -b a |authorization: bearer "
).replace("\\|", "\0")
LIMIT = 1.0
"""Seconds of the processor for a million characters, on a machine that does other things too."""


def test_every_form_is_redacted() -> None:
    leaves = []
    for form in ALL_FORMS:
        redacted = REDACTION.redact_text(form.text)
        within = REDACTION.redact_text(f"Before.\n\n{form.text}\n\nAfter.")
        if remaining_secret(form, redacted) or remaining_secret(form, within):
            leaves.append((form.name, redacted, within))
        assert REDACTION.redact_text(redacted) == redacted, form.name
    assert leaves == []


def test_what_is_no_secret_stays_readable() -> None:
    texts = [text for readable_text in READABLE for text in (readable_text, f"Before.\n\n{readable_text}\n\nAfter.\n")]
    assert [REDACTION.redact_text(text) for text in texts] == texts


def test_masked_text_is_as_long_as_it_was() -> None:
    masked = [(form, mask_secrets(form.text)) for form in forms("forms.tsv")]
    assert [(form.name, text) for form, text in masked if len(text) != len(form.text)] == []
    assert [(form.name, text) for form, text in masked if remaining_secret(form, text)] == []


@settings(max_examples=150, deadline=None)
@given(form=st.sampled_from(ALL_FORMS), before=PLAIN, after=PLAIN)
def test_redaction_is_idempotent_whatever_is_around(form: Form, before: str, after: str) -> None:
    redacted = REDACTION.redact_text(f"{before}\n{form.text}\n{after}")
    assert not remaining_secret(form, redacted), redacted
    assert REDACTION.redact_text(redacted) == redacted


NEEDS_FOLLOWING_COMMAND = ("chpasswd", "echo to stdin", "sudo from a pipe", "kubernetes secret as JSON, kind last")
"""Forms in which only what is behind the secret tells that it is one."""


def test_no_secret_gets_through_a_cut_after_it() -> None:
    """A text that ends in what comes behind a secret, or at it, is redacted like the whole one."""
    leaves = []
    for form in ALL_FORMS:
        end = form.text.index(form.secret) + len(form.secret)
        cuts = [form.text[:at] for at in range(end, len(form.text)) if form.name not in NEEDS_FOLLOWING_COMMAND]
        leaves += [(form.name, cut) for cut in cuts if form.secret in REDACTION.redact_text(cut)]
    assert leaves == []


@settings(max_examples=150, deadline=None)
@given(form=st.sampled_from(ALL_FORMS), color=st.sampled_from(COLORS), data=st.data())
def test_no_secret_gets_through_in_colors(form: Form, color: str, data: st.DataObject) -> None:
    begin = form.text.index(form.secret)
    at = data.draw(st.integers(begin, begin + len(form.secret)))
    colored = form.text[:at] + color + form.text[at:]
    redacted = REDACTION.redact_text(colored)
    for escape in COLORS:
        redacted = redacted.replace(escape, "")
    assert not remaining_secret(form, redacted), redacted


WRAPPED = [
    form
    for form in forms("forms.tsv")
    if len(form.secret) > 30 and [(0, len(form.secret))] == [tuple(token)[1:] for token in find_tokens(form.secret)]
]
"""Those that their beginning tells."""


@pytest.mark.parametrize("end", ["\n", "\\\n    ", "\n│ "])
def test_a_token_that_a_window_has_wrapped_is_found(end: str) -> None:
    assert WRAPPED
    leaves = []
    for form in WRAPPED:
        for at in (len(form.secret) // 2, len(form.secret) - 4, 20):
            begin, rest = form.secret[:at], form.secret[at:]
            wrapped = REDACTION.redact_text(f"TOKEN {begin}{end}{rest}\n")
            # a word may be one of the text
            if begin[-8:] in wrapped or (rest[:8] in wrapped and not rest.isalpha()):
                leaves.append((form.name, wrapped))
    assert leaves == []


def test_a_key_on_the_line_before_tells_its_value() -> None:
    for text in (
        '"password":\n  "open-sesame"',
        "deploy --password \\\n  open-sesame",
        "password: |\n  open-sesame\nx: 1",
    ):
        assert "open-sesame" not in REDACTION.redact_text(text)
    assert REDACTION.redact_text("open-sesame\n", "kind: Secret\ndata:\n  a: ") == f"{REDACTED}\n"


def test_values_and_arguments_of_documents() -> None:
    document = {
        "password": "open-sesame",
        "argv": ["mysql", "-popen-sesame"],
        "more": ["x", "--password", "open-sesame", "-v"],
    }
    redacted = REDACTION.redact_value(document)
    assert "sesame" not in str(redacted)
    assert REDACTION.redact_value({"token": "str", "argv": ["make", "-j", "4"]}) == {
        "token": "str",
        "argv": ["make", "-j", "4"],
    }


@pytest.mark.parametrize("part", HOSTILE.split("|"))
def test_the_time_grows_with_a_hostile_text_and_not_faster(part: str) -> None:
    """Four times the text may take eight times as long, because machines are noisy; if it took its square it would be sixteen."""
    part = part.replace("\0", "|")
    text = (part * (800_000 // len(part) + 1))[:800_000]
    assert _seconds(text) < 8 * _seconds(text[:200_000]) + LIMIT


def _seconds(text: str) -> float:
    begun = time.process_time()
    find_secret_spans(text)
    return time.process_time() - begun
