"""Detection of certain secrets, and masking of all secrets.

`find_secrets` reports only certain secrets, because `lint` and `evaluate` reject plans for them: no false positives.
Text that leaves this machine or is stored is searched with `execplan.core.secrets.all_secrets`, which finds much more;
`mask_secrets` uses it too.

Nearly every certain secret has sixteen letters and digits in a row. These runs are found in one pass, and the detailed
checks are loaded only if there is one. Shorter passwords are searched for only after a few names.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.core.secrets.service_tokens import Secret


_MIN_RUN = b"a" * 16
_ALNUM_TABLE = bytes([97 if chr(at).isalnum() and at < 128 else 32 for at in range(256)])
_WEBHOOK_HOST = "hooks.slack.com/services/"
_KEY_LABEL = "PRIVATE KEY-----"
_NEEDLES = ("assword", "ASSWORD", "asswd", "PASSWD", "AccountKey=", " -u ")
"""Text before a password that is shorter than such a run."""
_PREFIXES = ("hf_", "GOCSPX-", "figd_", "figo_", "glpat-", "glrt-", "github_pat_", "pypi-", "sk-", "AIza", "xox")
"""Prefixes of tokens that may have no such run: of letters only, or with separators."""
_HINTS = (
    *"pass pwd psk secret token cred auth cookie bearer basic jwt dsn hook sig= key :// identified".split(),
    *(" -u", " -p", " -a", " -w", ":543", ":*:", "$2", "$6$", "$argon2"),
)
"""Lowercase text in anything that may contain a secret without such a run."""


def find_secrets(source: str) -> list[Secret]:
    """Return all certain secrets in a text, in order."""
    runs = list(_alnum_runs(source))
    has_key, has_login = _KEY_LABEL in source, "@" in source and "://" in source
    has_name = any([needle in source for needle in _NEEDLES])
    has_prefix = any([prefix in source for prefix in _PREFIXES])
    if not (runs or has_key or has_login or has_name or has_prefix):
        return []
    from execplan.core.secrets import password_detection, service_tokens

    secrets = list(service_tokens.find_tokens(source)) if runs or has_prefix else []
    _add_new(secrets, password_detection.find_named_values(source, runs))
    if has_key:
        secrets += _find_private_keys(source)
    if has_login:
        secrets += password_detection.find_url_passwords(source)
    if runs and _WEBHOOK_HOST in source:
        secrets += password_detection.find_webhooks(source, _WEBHOOK_HOST)
    if has_name:
        _add_new(secrets, password_detection.find_passwords(source, _NEEDLES))
    return sorted(secrets, key=lambda secret: secret.start)


def _find_private_keys(source: str) -> Iterator[Secret]:
    """Yield private keys, from the opening line to the closing one."""
    from execplan.core.secrets.service_tokens import Secret, is_random

    index = source.find(_KEY_LABEL)
    while index >= 0:
        label_end = index + len(_KEY_LABEL)
        start = source.rfind("-----BEGIN", max(index - 40, 0), index)
        body = source[label_end : label_end + 400].replace("\\n", " ").split()
        if start >= 0 and any([len(word) >= 40 and is_random(word) for word in body]):
            end = source.find("-----END", label_end)
            closing_end = source.find("-----", end + 8) if end >= 0 else -1
            yield Secret("private key", start, closing_end + 5 if closing_end >= 0 else label_end)
        index = source.find(_KEY_LABEL, label_end)


def _add_new(secrets: list[Secret], candidates: Iterable[Secret]) -> None:
    """Add the candidates that overlap none of the secrets already found."""
    known_spans = sorted([(known_secret.start, known_secret.end) for known_secret in secrets])
    for candidate in candidates:
        index = bisect_left(known_spans, (candidate.end, 0))
        if not index or known_spans[index - 1][1] <= candidate.start:
            secrets.append(candidate)


def mask_secrets(text: str) -> str:
    """Mask the secrets in a text with asterisks of equal length; the start of a known service's token stays visible."""
    if not _may_have_secret(text):
        return text
    from execplan.core.secrets.all_secrets import find_secret_spans

    visible_ends = {secret.start: secret.start + secret.visible_length for secret in find_secrets(text)}
    for start, end in reversed(find_secret_spans(text)):
        mask_start = min(visible_ends.get(start, start), end)
        text = text[:mask_start] + "*" * (end - mask_start) + text[end:]
    return text


def _may_have_secret(text: str) -> bool:
    """Return whether a text may contain a secret, so that the detector must be loaded."""
    lowered = text.lower().replace("author:", ":")  # the label of each decision is no authentication
    if any([hint in lowered for hint in _HINTS]) or next(_alnum_runs(text), None) is not None:
        return True
    from execplan.core.secrets.service_tokens import find_tokens

    return next(find_tokens(text, only_certain=False), None) is not None


def _alnum_runs(source: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of runs of at least sixteen letters and digits that contain both."""
    mask = source.encode("ascii", "replace").translate(_ALNUM_TABLE)
    index = mask.find(_MIN_RUN)
    while index >= 0:
        run_end = mask.find(b" ", index)
        run_end = len(source) if run_end < 0 else run_end
        run = source[index:run_end]
        if not run.isalpha() and not run.isdigit():
            yield index, run_end
        index = mask.find(_MIN_RUN, run_end)
