"""What a row of letters and digits is: the token of a known service, a random value under a telling name, or nothing."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Secret(NamedTuple):
    """Where a secret stands in a text, in characters, and what it is."""

    kind: str
    start: int
    end: int


class _Shape(NamedTuple):
    """What the tokens of a service look like."""

    kind: str
    starts: tuple[str, ...]
    least: int
    """Characters behind the start."""
    most: int = 0
    """None for 0."""
    joints: str = ""
    """Characters behind the start that are neither letters nor digits; each is known by none else."""
    digits: str = ""
    """All characters behind the start are of these."""


_HEX = "0123456789abcdef"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_SHAPES = (
    _Shape("AWS access key", ("AKIA", "ASIA"), 16, 16, digits=_UPPER),
    _Shape("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), 36, 255),
    _Shape("GitHub token", ("github_pat_",), 40, joints="_"),
    _Shape("GitLab token", ("glpat-",), 20, joints="_-."),
    _Shape("Slack token", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"), 24, joints="-"),
    _Shape("Stripe key", ("sk_live_", "rk_live_"), 16),
    _Shape("Google API key", ("AIza",), 35, 35, joints="_-"),
    _Shape("Google client secret", ("GOCSPX-",), 28, 28, joints="_-"),
    _Shape("Anthropic key", ("sk-ant-",), 40, joints="_-"),
    _Shape("API key", ("sk-proj-", "sk-svcacct-", "sk-or-v1-", "gsk_", "xai-"), 40, joints="_-"),
    _Shape("API key", ("sk-",), 40),
    _Shape("npm token", ("npm_",), 36, 36),
    _Shape("PyPI token", ("pypi-AgE",), 60, joints="_-"),
    _Shape("Hugging Face token", ("hf_",), 34, 40),
    _Shape("SendGrid key", ("SG.",), 60, joints="_-."),
    _Shape("DigitalOcean token", ("dop_v1_", "doo_v1_"), 64, 64, digits=_HEX),
    _Shape("Shopify token", ("shpat_", "shpss_"), 32, 32, digits=_HEX + "ABCDEF"),
    _Shape("age key", ("AGE-SECRET-KEY-1",), 58, 58, digits=_UPPER),
    _Shape("JSON Web Token", ("eyJ",), 60, joints="_-."),
)
_NAMES = (
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "bearer",
)
"""How the name ends that a secret is given to, without what joins its parts."""
_EXAMPLES = (
    "example",
    "xxxx",
    "****",
    "0000",
    "1234567",
    "abcdefg",
    "aaaa",
    "your",
    "placeholder",
    "redacted",
    "dummy",
    "fake",
)
"""What a token holds that is none."""
_CODE = frozenset("<>{}()[]$./_*…")
"""What a path, a name in code or a place for a value holds."""
_HOLLOW = ("passw", "changeme", "secret")
_WIDEST = 4096


def tokens(source: str, rows: Iterable[tuple[int, int]]) -> Iterator[Secret]:
    """Tokens of known services, and random values that a name of a secret is given, around rows of letters and digits."""
    done = 0
    for at, end in rows:
        if at < done:
            continue
        start, stop = _token(source, at, end, done)
        secret = _known(source, start, stop) or _given(source, start, stop)
        if secret is not None:
            yield secret
        done = stop


def _token(source: str, start: int, end: int, least: int) -> tuple[int, int]:
    """Where the token begins and ends that holds these letters and digits."""
    at = start
    while start > least and at - start < _WIDEST and (source[start - 1].isalnum() or source[start - 1] in "_-."):
        start -= 1
    while end < len(source) and end - at < _WIDEST and (source[end].isalnum() or source[end] in "_-."):
        end += 1
    while source[end - 1] in "-.":
        end -= 1
    return start, end


def _known(source: str, start: int, end: int) -> Secret | None:
    """The token of a known service that stands between two places."""
    token = source[start:end]
    for shape in _SHAPES:
        for begin in shape.starts:
            at = token.find(begin)
            if at < 0 or (at and token[at - 1] not in "_-."):
                continue
            rest = token[at + len(begin) :]
            size = next((place for place, char in enumerate(rest) if not _fits(char, shape)), len(rest))
            if size >= shape.least and size <= (shape.most or size) and is_random(rest[:size]):
                if begin == "eyJ" and rest[:size].count(".") != 2:
                    continue
                return Secret(shape.kind, start + at, start + at + len(begin) + size)
    return None


def _fits(char: str, shape: _Shape) -> bool:
    """Whether a character may stand in a token."""
    return char in shape.digits if shape.digits else (char.isascii() and char.isalnum()) or char in shape.joints


def _given(source: str, start: int, end: int) -> Secret | None:
    """The value between two places when it is given to a name of a secret."""
    value = source[start:end]
    if "." in value or "_" in value or not is_random(value):
        return None
    lead = source[max(start - 40, 0) : start].rsplit("\n", maxsplit=1)[-1]
    name = lead.rstrip(" \"'`:=")
    joint = lead[len(name) :]
    bare = name.lower().replace("_", "").replace("-", "")
    if not bare.endswith(_NAMES) or not (":" in joint or "=" in joint or (bare.endswith("bearer") and joint == " ")):
        return None
    kinds = any([char.islower() for char in value]) + any([char.isupper() for char in value])
    is_hex = len(value) >= 32 and not value.lower().strip(_HEX)
    if (kinds == 2 and sum([char.isdigit() for char in value]) >= 2) or is_hex:
        return Secret("secret", start, end)
    return None


def is_random(value: str) -> bool:
    """Whether a value was drawn by a machine, as far as can be told: letters and digits of many kinds, and no example."""
    folded = value.lower()
    if any([word in folded for word in _EXAMPLES]):
        return False
    digits = any([char.isdigit() for char in value])
    return digits and len(set(value)) >= min(10, len(value) // 2) and any([char.isalpha() for char in value])


def is_strong(value: str, least: int) -> bool:
    """Whether a value is so long, of capitals, small letters and digits, and no word of code or of an example."""
    if len(value) < least or not value.isascii() or not is_random(value) or not _CODE.isdisjoint(value):
        return False
    mixed = any([char.islower() for char in value]) and any([char.isupper() for char in value])
    digits = sum([char.isdigit() for char in value])
    return mixed and digits > 1 and not any([word in value.lower() for word in _HOLLOW])


def keys(source: str, key: str) -> Iterator[Secret]:
    """Private keys: the line that opens one, with what it opens behind it."""
    at = source.find(key)
    while at >= 0:
        after = at + len(key)
        start = source.rfind("-----BEGIN", max(at - 40, 0), at)
        body = source[after : after + 400].replace("\\n", " ").split()
        if start >= 0 and any([len(word) >= 40 and is_random(word) for word in body]):
            end = source.find("-----END", after)
            stop = source.find("-----", end + 8) if end >= 0 else -1
            yield Secret("private key", start, stop + 5 if stop >= 0 else after)
        at = source.find(key, after)


LOCAL = ("localhost", "127.", "0.0.0.0", "host.docker", "example.")  # noqa: S104 - a host that is named, not bound


def urls(source: str) -> Iterator[Secret]:
    """Passwords in addresses of services elsewhere: `scheme://name:password@host.of.it`."""
    at = source.find("://")
    while at >= 0:
        begin = at + 3
        sign = source.find("@", begin, begin + 200)
        said = source[begin:sign] if sign >= 0 else ""
        name, colon, password = said.partition(":")
        if colon and name.isascii() and not any([char in " \n/<>{}$()[]`\"'*" for char in said]):
            host = source[sign + 1 : sign + 80].split("/", maxsplit=1)[0].split()
            away = bool(host) and password != name and not any([local in host[0] for local in LOCAL])
            far = away and "." in host[0]
            if (away and is_strong(password, 12)) or (far and len(password) >= 8 and is_random(password)):
                yield Secret("password", begin + len(name) + 1, sign)
        at = source.find("://", begin)
