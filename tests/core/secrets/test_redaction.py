"""No secret is left in what is written: by its looks, or as the value of a variable, plain or encoded, wherever it stands."""

from __future__ import annotations

import base64
import json
import shlex
from urllib.parse import quote

import pytest

from execplan.core.secrets.redaction import Redactor
from tests.core.secrets.test_certain_secrets import LONG, REAL

VALUE = "s3cr/t value+é='q'"
ENVIRON = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/ann",
    "LANG": "tlh_KLINGON",
    "EXECPLAN_AUTHOR": "Ann the author",
    "GIT_AUTHOR_NAME": "Ann the author",
    "CANARY": VALUE,
    "PIN": "12345",
    "DB_PASSWORD": "pw12",
    "PASSPHRASE": "abc",
    "npm_config_token": "tokn",
    "AUTHORIZATION": "Basic x",
    "MANPATH": "/usr/share/man:/opt/man::",
    "GOOGLE_CREDENTIALS": "/home/ann/creds.json",
    "LINES": "first line of it\nok\nthe second line\n",
    "LANG_TOKEN": "allowed-token",
}
ALLOWED = ("PATH", "HOME", "LANG", "LANG_TOKEN", "EXECPLAN_AUTHOR", "GIT_AUTHOR_NAME")


@pytest.fixture
def redaction() -> Redactor:
    return Redactor(ENVIRON, ALLOWED)


@pytest.mark.parametrize(
    "secret",
    [
        VALUE,
        json.dumps(VALUE)[1:-1],
        quote(VALUE, safe=""),
        shlex.quote(VALUE)[1:-1].replace("'\"'\"'", "'\\''"),
        VALUE.encode().hex(),
        VALUE.encode().hex().upper(),
        "pw12",
        "tokn",
        "Basic x",
        "/home/ann/creds.json",
        "allowed-token",
        "first line of it",
        "the second line",
        *REAL.values(),
    ],
)
def test_a_secret_is_taken_out(redaction: Redactor, secret: str) -> None:
    text = redaction.redact_text(f"before {secret} and «{secret}» behind")
    assert text == "before [redacted] and «[redacted]» behind"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc:"])
@pytest.mark.parametrize("behind", ["", "x", "xy"])
def test_also_within_base64(redaction: Redactor, before: str, behind: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        coded = encode(f"{before}{VALUE}{behind}".encode()).decode()
        text = redaction.redact_text(f"Basic: {coded}")
        assert "[redacted]" in text
        remaining = text.removeprefix("Basic: ").replace("[redacted]", "")
        assert len(remaining) < 14, "no more than its ends, which hold what is around it too"


@pytest.mark.parametrize(
    "text",
    ["/usr/bin", "12345", "abc", "ok", "Ann the author", "tlh_KLINGON", "/usr/share/man:/opt/man::", "src/app.py", ""],
)
def test_what_is_no_secret_stays(redaction: Redactor, text: str) -> None:
    assert redaction.redact_text(f"a {text} b") == f"a {text} b"


def test_what_overlaps_is_one(redaction: Redactor) -> None:
    both = Redactor({"A": "abcdefgh-1", "B": "fgh-1-ijklm"}, ())
    assert both.redact_text("x abcdefgh-1-ijklm y") == "x [redacted] y"
    assert both.spans("abcdefgh-1-ijklm") == [(0, 16)]
    assert redaction.spans("nothing") == []


def test_a_private_key_is_one(redaction: Redactor) -> None:
    body = "\n".join([LONG[:64]] * 3)
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    assert redaction.redact_text(f"a\n{key}\nb") == "a\n[redacted]\nb"


def test_everything_in_a_document(redaction: Redactor) -> None:
    document = {VALUE: [VALUE, {"deep": (f"x {VALUE}", 1, None, True, 1.5)}], "plain": {}}
    redacted = redaction.redact_value(document)
    assert redacted == {"[redacted]": ["[redacted]", {"deep": ["x [redacted]", 1, None, True, 1.5]}], "plain": {}}
    assert VALUE in str(document), "what was given is as it was"


def test_nothing_in_nothing() -> None:
    assert Redactor({}, ()).redact_text("a b") == "a b"
    assert Redactor({"EMPTY": "", "SPACE_TOKEN": "    "}, ()).redact_text("a     b") == "a     b"


@pytest.mark.parametrize("colour", ["\x1b[01;31m\x1b[K", "\x1b[m", "\x1b]8;;x\x07", "\x1b(B"])
def test_also_where_part_of_it_is_coloured(redaction: Redactor, colour: str) -> None:
    for secret in (VALUE, "ghp_" + LONG[:36]):
        text = redaction.redact_text(f"{colour}token {secret[:4]}{colour}{secret[4:]} behind{colour}")
        assert text == f"{colour}token [redacted] behind{colour}"
    assert redaction.redact_text(f"{colour}no {colour}secret") == f"{colour}no {colour}secret"
