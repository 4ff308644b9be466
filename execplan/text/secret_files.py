"""Which files hold keys and passwords by their names: the one list that the guard, context packs, ratings and enhancers share.

A name may hold `*` for any text; case makes no difference. The module imports nothing, because each call of a tool loads it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

ALWAYS: Final = tuple(
    """.env .env.* *.env .envrc .netrc _netrc .pypirc .npmrc .htpasswd .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials
.vault-token .vault_pass* .vault-pass* .dockercfg .s3cfg .boto .passwd-s3fs .msmtprc .fetchmailrc .*_history .terraformrc terraform.rc
*.tfstate *.tfstate.backup *.tfvars *.tfvars.json *.ovpn *.kdbx *.kdb *.agekey .secret .secrets .token wallet.dat wp-config.php
*-credentials.json service-account*.json service_account*.json *firebase-adminsdk*.json client_secret*.json client-secret*.json
application_default_credentials.json token.json auth.json rclone.conf local.settings.json password.txt passwords passwords.txt
passwords.csv passwords.json passwords.yml passwords.yaml passwords.xlsx""".split()
)
"""Names of files for secrets."""
KEYS: Final = tuple(
    "id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.pk8".split()
)
"""Names of files for keys: those among the tests of a repository are made up for them."""
WORDS: Final = tuple(
    "credentials credentials.* secrets secrets.* *.secrets kubeconfig kubeconfig.* *.kubeconfig".split()
)
"""Names that a module or a document may have too."""
FOLDERS: Final = tuple(
    """.ssh .aws .gnupg .kube .azure .oci .password-store .secrets .config/gcloud .config/gh .config/hub .config/op .config/doctl
.config/heroku""".split()
)
"""Folders in which every file is one."""
PATHS: Final = tuple(
    """.docker/config.json .config/containers/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
.config/hub .config/git/credentials .composer/auth.json .bundle/config .gem/credentials""".split()
)
"""Files that are one in their folder only."""
MACHINE: Final = tuple(
    """/etc/shadow* /etc/gshadow* /etc/sudoers* /etc/ssl/private/* /proc/*/environ /proc/*/mem /root/* /dev/mem /dev/kmem /dev/tcp/*
/dev/udp/* /run/secrets/* /var/run/secrets/*""".split()
)
"""Absolute paths."""
EXAMPLES: Final = tuple("*.example *.sample *.template *.dist *.pub *.example.* *.sample.*".split())
"""Names that make a file an example, or a public key."""
CODE: Final = frozenset(
    """md rst adoc html htm css scss less svg png jpg vue svelte py pyi go rs ts tsx mts cts js jsx mjs cjs java kt kts scala rb erb cs c
h cc cpp hpp m mm swift dart ex exs erl clj lua pl r jl proto graphql feature""".split()
)
"""What ends the names of modules and documents."""
TESTS: Final = frozenset("tests test fixtures testdata".split())
"""Folders of a repository whose keys are made up."""
LISTED: Final = (*ALWAYS, *KEYS, *WORDS, *[f"{each}/" for each in FOLDERS], *PATHS, *MACHINE)
"""All of it, for documents."""
ALL: Final = (ALWAYS, KEYS, WORDS, FOLDERS, PATHS, MACHINE, EXAMPLES, sorted(CODE), sorted(TESTS))
"""For a digest."""

_MOST: Final = 20_000
"""Names that are compared with a file that has several: some 50 ms."""
_PASSED_OVER: Final = frozenset(".git node_modules .venv venv __pycache__ .tox target .cache .mypy_cache".split())


def is_secret(path: str, *, folder: bool = False) -> bool:
    """Whether a path, absolute or from the root of a repository, is a file for secrets by its name; `folder`: it is no file."""
    parts = [part for part in path.replace("\\", "/").casefold().split("/") if part not in ("", ".")]
    if not parts:
        return False
    name, whole = parts[-1], f"/{'/'.join(parts)}"
    if _any(name, EXAMPLES):
        return False
    if path.startswith("/") and (_any(whole, MACHINE) or f"{whole}/*" in MACHINE):
        return True
    if any([f"/{each}/" in f"{whole}/" for each in FOLDERS]):
        return True
    if folder:
        return False
    ending = name.rpartition(".")[2]
    if any([whole.endswith(f"/{each}") for each in PATHS]) or (_any(name, ALWAYS) and ending not in CODE):
        return True
    if _any(name, KEYS) and ending not in CODE:
        return path.startswith("/") or TESTS.isdisjoint(parts[:-1])
    return _any(name, WORDS) and ending not in CODE


def other_name(path: str, roots: Iterable[str]) -> str:
    """The file for secrets, in one of these folders, of which an absolute path is another name by a hard link; else nothing.

    Only a file with several names is looked for, and among so many names at most.
    """
    import os

    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ""
    if found.st_nlink < 2 or (found.st_mode & 0o170000) != 0o100000:
        return ""
    for root in dict.fromkeys(roots):
        left, folders = _MOST, [(root, "")]
        for folder, shown in folders:  # it grows: what is nearer to the root comes first
            try:
                with os.scandir(folder) as entries:
                    names = list(entries)
            except OSError:
                continue
            left -= len(names)
            for each in names:
                inside = f"{shown}/{each.name}" if shown else each.name
                if each.inode() == found.st_ino and is_secret(inside) and _is(each.path, found.st_dev):
                    return each.path
                if each.name not in _PASSED_OVER and each.is_dir(follow_symlinks=False):
                    folders.append((each.path, inside))
            if left <= 0:
                break
    return ""


def _is(path: str, device: int) -> bool:
    import os

    try:
        return os.lstat(path).st_dev == device
    except OSError:
        return False


def _any(text: str, patterns: tuple[str, ...]) -> bool:
    return any([_like(text, each) for each in patterns])


def _like(text: str, pattern: str) -> bool:
    """Whether `*` in a pattern may stand for what a text has there."""
    first, star, _ = pattern.partition("*")
    if not star:
        return text == pattern
    *middle, last = pattern.split("*")[1:]
    if not (text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
