"""Secrets in a text. `find` reports what is certainly one: `lint` and `evaluate` refuse plans for that, so it makes no mistakes.

What leaves this machine or is kept is searched with `execplan.secrets.secret_scan`, which finds much more; `masked` does so as well.

Nearly every secret that is certain has sixteen letters and digits in a row; these rows are found in one pass, and what looks at
them closely is loaded when there is one. Shorter passwords are looked for only after a few names.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.secrets.service_tokens import Secret


_MIN_RUN = b"a" * 16
_ALNUM_TABLE = bytes([97 if chr(at).isalnum() and at < 128 else 32 for at in range(256)])
_KEY_LABEL = "PRIVATE KEY-----"
_NEEDLES = ("assword", "ASSWORD", "asswd", "PASSWD", "AccountKey=", " -u ")
"""What stands before a password that is shorter than such a row."""
_HINTS = (
    *"pass pwd psk secret token cred auth cookie bearer basic jwt dsn hook sig= key :// identified".split(),
    *(" -u", " -p", " -a", " -w", ":543", ":*:", "$2", "$6$", "$argon2"),
)
"""What is in a text, in small letters, that may hold a secret without such a row."""
_VISIBLE_LENGTH = 4
"""Characters of a secret that may be shown, so that it can be told which one it is."""
_MIN_VISIBLE_PASSWORD = 20
"""Characters of a password of which some may be shown."""


def find_secrets(source: str) -> list[Secret]:
    """Every secret in a text, in order."""
    runs = list(_alnum_runs(source))
    has_key, has_login = _KEY_LABEL in source, "@" in source and "://" in source
    has_name = any([needle in source for needle in _NEEDLES])
    if not (runs or has_key or has_login or has_name):
        return []
    from execplan.secrets import service_tokens

    secrets = list(service_tokens.find_tokens(source)) if runs else []
    _add_new(secrets, service_tokens.find_named_values(source, runs))
    if has_key:
        secrets += service_tokens.find_certain_keys(source, _KEY_LABEL)
    if has_login:
        secrets += service_tokens.find_url_passwords(source)
    if has_name:
        from execplan.secrets.named_passwords import find_passwords

        _add_new(secrets, find_passwords(source, _NEEDLES))
    return sorted(secrets, key=lambda secret: secret.start)


def _add_new(secrets: list[Secret], candidates: Iterable[Secret]) -> None:
    """Add secrets that overlap with none of those that were found."""
    known_spans = sorted([(known_secret.start, known_secret.end) for known_secret in secrets])
    for candidate in candidates:
        index = bisect_left(known_spans, (candidate.end, 0))
        if not index or known_spans[index - 1][1] <= candidate.start:
            secrets.append(candidate)


def visible_length(secret: Secret) -> int:
    """How many characters of a secret may be shown: of a short one that no service is known for, none."""
    return (
        0
        if secret.kind in ("password", "secret") and secret.end - secret.start < _MIN_VISIBLE_PASSWORD
        else _VISIBLE_LENGTH
    )


def mask_secrets(text: str) -> str:
    """The text with every secret as asterisks, as long as it was; of the token of a known service the first characters stay."""
    if not _may_have_secret(text):
        return text
    from execplan.secrets.secret_scan import find_secret_spans

    visible_ends = {secret.start: secret.start + visible_length(secret) for secret in find_secrets(text)}
    for start, end in reversed(find_secret_spans(text)):
        mask_start = min(visible_ends.get(start, start), end)
        text = text[:mask_start] + "*" * (end - mask_start) + text[end:]
    return text


def _may_have_secret(text: str) -> bool:
    """Whether anything in a text calls for the detector, which is loaded then."""
    lowered = text.lower()
    if any([hint in lowered for hint in _HINTS]) or next(_alnum_runs(text), None) is not None:
        return True
    from execplan.secrets.service_tokens import find_tokens

    return next(find_tokens(text, only_certain=False), None) is not None


def _alnum_runs(source: str) -> Iterator[tuple[int, int]]:
    """Where rows of at least sixteen letters and digits, and of both, begin and end."""
    mask = source.encode("ascii", "replace").translate(_ALNUM_TABLE)
    index = mask.find(_MIN_RUN)
    while index >= 0:
        run_end = mask.find(b" ", index)
        run_end = len(source) if run_end < 0 else run_end
        run = source[index:run_end]
        if not run.isalpha() and not run.isdigit():
            yield index, run_end
        index = mask.find(_MIN_RUN, run_end)
