"""Patterns of text that contains credentials: URLs, headers, options, calls, XML elements, and formats of programs and files.

A pattern is compiled when one of its needles is in a text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.secrets import credential_checks
from execplan.core.secrets.secret_names import PASSWORD, SECRET, classify_name, is_secret
from execplan.core.secrets.secret_table import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable

_ARGUMENT_VALUE: Final = r"(?:\"(?P<d>[^\"\n]{1,500})\"?|'(?P<q>[^'\n]{1,500})'?|(?P<s>[^\s\"'`;|&<>()]{1,500}))"
"""Pattern of a command-line word; the value is in one of three groups."""


_NAME_NEEDLES: Final = tuple(
    "pass pwd pw secret token key cred auth cookie sess jwt dsn pepper psk hook sig salt bearer".split()
)
"""Parts of the names to which secrets are assigned."""


class CredentialPattern(NamedTuple):
    """A pattern that is searched for where one of its needles is in the text."""

    needles: tuple[str, ...]
    """Needles in lower case; if empty, the pattern is always searched for."""
    pattern: str
    is_secret_match: Callable[[re.Match[str], str], bool]
    """Check of whether a match with its value is a secret."""


_PASSWORD_PROGRAMS: Final = (
    (("mysql", "mariadb"), r"(?:mysql|mariadb)[\w-]{0,12}", r"-p(?!ort|rot)"),
    (("put-parameter",), r"aws[ \t]+ssm[ \t]+put-parameter", r"--value[ \t=]{1,3}"),
    (("twine",), r"twine", r"-p[ \t]{1,3}"),
    (("sshpass",), r"sshpass", r"-p[ \t]{0,3}"),
    (
        ("login",),
        r"(?:docker|podman|nerdctl|buildah|skopeo|oras|crane|helm|az|oc|tsh|cf|twine|snyk|cloudctl|ibmcloud)[^\n|;&]{0,60}?login",
        r"-p[ \t=]{1,3}",
    ),
    (("redis-",), r"redis-(?:cli|benchmark)", r"(?:-a|--pass)[ \t=]{1,3}"),
    (("ldap",), r"ldap[a-z]{3,10}", r"-w[ \t]{0,3}(?!ait)"),
    (("sqlcmd", "bcp", "osql", "tsql"), r"(?:sqlcmd|bcp|osql|tsql|isql)", r"-P[ \t]{0,3}"),
    (("mongo",), r"mongo[a-z]{0,8}", r"-p[ \t]{1,3}"),
    (("zip", "7z"), r"(?:zip|unzip|7za?|7zz|rar|unrar)", r"-[pP][ \t]{0,1}"),
    (("plink", "pscp", "psftp"), r"(?:plink|pscp|psftp)", r"-pw[ \t]{1,3}"),
    (
        ("cypher-shell", "clickhouse", "influx", "impacket", "evil-winrm"),
        r"(?:cypher-shell|clickhouse[\w-]{0,10}|influx|evil-winrm)",
        r"-p[ \t]{1,3}",
    ),
    (("ssh-keygen",), r"ssh-keygen", r"-[NP][ \t]{1,3}"),
    (("openssl enc",), r"openssl[ \t]enc", r"-k[ \t]{1,3}"),
    (
        ("secret set", "variable set"),
        r"(?:gh|glab)[ \t](?:secret|variable)[ \t]set",
        r"(?:--body|-b|-v|--value)[ \t=]{1,3}",
    ),
    (("vault login", "bao login"), r"(?:vault|bao)[ \t]login", r"(?:[a-z]+=)?"),
)
"""Programs with a password option: needles, program pattern and option pattern."""

_PATTERNS: Final = (
    CredentialPattern(
        ("://",),
        r"[A-Za-z][A-Za-z0-9+.-]{0,20}://(?P<u>[^\s/@:\"'`<>]{0,100}):(?P<s>[^\s/\"'`<>]{1,300})@(?=[\w\[$.*-])",
        credential_checks.is_login,
    ),
    CredentialPattern(
        ("://",), r"://(?P<s>[^\s/@:\"'`<>]{16,400})(?:@|:(?:x-oauth-basic)?@)", credential_checks.is_user_token
    ),
    CredentialPattern(
        ("://",),
        r"://(?P<s>[^\s/@:\"'`<>]{6,400}:[^\s/@:\"'`<>]{6,400})@(?:gems|enterprise)\.contribsys\.com",
        credential_checks.is_real_value,
    ),
    CredentialPattern(
        ("://",),
        r"://(?:oauth2|x-access-token|token|git|gitlab-ci-token|__token__):(?P<s>[^\s/@\"'`<>$]{4,400})@",
        credential_checks.is_real_value,
    ),
    CredentialPattern(
        ("authorization",),
        r"(?i)authorization[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?:bearer|basic|token|apikey|api-key|digest|negotiate|ntlm|hawk|aws4-hmac-sha256|oauth|signature|ssws|bot)[ \t]+(?P<s>(?:[^\"'`\\\n<>${}=]|=(?:\"[^\"\n]{0,400}\")?){4,4000})",
        credential_checks.is_header,
    ),
    CredentialPattern(
        ("bearer ", "basic "),
        r"(?i)\b(?P<scheme>bearer|basic)[ \t]{1,4}(?P<s>[\w.~+/=%-]{6,4000})",
        credential_checks.is_bearer,
    ),
    CredentialPattern(
        ("cookie",),
        r"(?i)\bcookie[\"'`]?[ \t]{0,4}:[ \t]{0,4}[\"'`]?(?P<s>[^\"'`\n]{6,4000})",
        credential_checks.is_cookie,
    ),
    CredentialPattern(
        ("-u", "--user", "--proxy-user", "--auth", " -a "),
        r"[ \t](?:-u|--user|--proxy-user|-U|-a|--auth)[ \t=]{0,3}(?:\"(?P<u>[^\s\":/]{0,100}):(?P<d>[^\"\n]{1,200})\"?|'(?P<u1>[^\s':/]{0,100}):(?P<q>[^'\n]{1,200})'?|(?P<u2>[^\s\"':/]{0,100}):(?P<s>[^\s\"'`;|&<>()]{1,200}))",
        credential_checks.is_curl_password,
    ),
    CredentialPattern(
        _NAME_NEEDLES,
        rf"--?(?P<n>[A-Za-z][\w-]{{1,60}}+)[ \t]{{1,8}}(?:\\\n[ \t]{{0,20}})?(?!-){_ARGUMENT_VALUE}",
        credential_checks.is_option_value,
    ),
    CredentialPattern(
        ("</",),
        r"<(?P<n>[\w:.-]{2,60}+)(?:[ \t][^<>\n]{0,200})?>(?:<!\[CDATA\[)?\s{0,40}(?P<s>[^<>\n]{3,2000}?)\s{0,40}(?:\]\]>)?</",
        credential_checks.is_named_value,
    ),
    CredentialPattern(
        ("value=", "content=", "value =", "default="),
        r"(?i)\b(?:name|key|id|ref)[ \t]?=[ \t]?[\"'](?P<n>[\w.:-]{2,80})[\"'][^<>\n]{0,120}?\b(?:value|content|default)[ \t]?=[ \t]?[\"'](?P<s>[^\"'\n]{3,500})[\"']",
        credential_checks.is_named_value,
    ),
    CredentialPattern(
        ("name=", "key="),
        r"<[\w:.-]{1,40}[ \t][^<>\n]{0,120}?(?:name|key|id)=[\"'](?P<n>[\w.:-]{2,80})[\"'][^<>\n]{0,120}>(?P<s>[^<>\n]{3,500})</",
        credential_checks.is_named_value,
    ),
    CredentialPattern(
        ("<key>",),
        r"<key>(?P<n>[\w. :-]{2,60})</key>\s{0,40}<(?:string|data)>\s{0,40}(?P<s>[^<>]{3,4000}?)\s{0,40}</",
        credential_checks.is_named_value,
    ),
    CredentialPattern(
        ("value", "default"),
        r"(?i)(?<![\w-])(?:name|key|parameterkey|variable)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<n>[\w.-]{2,80}+)[\"']?[ \t]{0,4},?\s{1,60}[\"']?(?:value|parametervalue|default)[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?:\"(?P<d>[^\"\n]{1,500})\"|'(?P<q>[^'\n]{1,500})'|(?P<s>[^\s\"'{},&|>*!]{3,500}))",
        credential_checks.is_variable_value,
    ),
    CredentialPattern(
        ("variable",),
        r"variable[ \t]{1,4}\"(?P<n>[\w-]{2,80})\"[ \t]{0,4}\{[^{}]{0,600}?default[ \t]{0,20}=[ \t]{0,20}\"(?P<s>[^\"\n]{3,500})\"",
        credential_checks.is_named_value,
    ),
    CredentialPattern(
        ('("', "('"),
        r"(?i)\b(?:set|with|put|use|add)_?(?P<n>[A-Za-z_]{2,60}+)\([ \t]{0,4}[\"'](?P<s>[^\"'\n]{3,500})[\"'][ \t]{0,4}\)",
        credential_checks.is_named_value,
    ),
    CredentialPattern(
        ("securestring",),
        rf"(?i)securestring[ \t]{{1,4}}(?:-string[ \t]{{1,4}})?{_ARGUMENT_VALUE}",
        credential_checks.is_password_word,
    ),
    CredentialPattern(
        ("',", '",', "' ,"),
        r"[\"'](?P<n>[\w.-]{2,80}+)[\"'][ \t]{0,4},[ \t]{0,12}[\"'](?P<s>[^\"'\n]{3,2000})[\"']",
        credential_checks.is_call_argument,
    ),
    CredentialPattern(
        ("setenv", "set -", "env ", "setx", "arg ", "configure set", "config "),
        rf"(?m)(?:^|[\s;&|])(?:setenv|set[ \t]+-[a-zA-Z]{{1,4}}|ENV|setx|aws[ \t]configure[ \t]set|(?:git|npm|yarn|pip|composer|gcloud|pnpm|poetry|dvc|conda|gem|bundle)[ \t]config(?:[ \t](?:set|--\w+)){{0,2}})[ \t]+(?:--\w+[ \t]+)?(?P<n>[\w.:/-]{{2,120}}+)[ \t]+{_ARGUMENT_VALUE}",
        credential_checks.is_variable_value,
    ),
    CredentialPattern(
        ("from-literal",),
        rf"--from-literal[ \t=]{{1,3}}[\"']?[\w.-]{{1,80}}={_ARGUMENT_VALUE}",
        credential_checks.is_password_word,
    ),
    CredentialPattern(
        ("pass:",),
        r"\bpass:(?P<s>[^\s\"'`;|&<>()]{2,200})",
        lambda match, value: is_secret(value, PASSWORD, is_quoted=False, is_config=True),
    ),
    CredentialPattern(
        ("sqlplus", "rman", "expdp", "impdp"),
        r"\b(?:sqlplus|rman|expdp|impdp|sqlldr)\b[^\n]{0,80}?[ \t](?P<u>[\w$#]{1,60})/(?P<s>[^\s\"'@/]{2,100})@",
        credential_checks.is_login,
    ),
    CredentialPattern(
        ("smbclient", "rpcclient", "net ", "mount"),
        r"\b(?:smbclient|rpcclient|net|smbget|winexe)\b[^\n]{0,120}?(?:-U|--user)[ \t=]{0,3}[\"']?(?P<u>[^\s%\"']{1,60})%(?P<s>[^\s\"']{2,100})",
        credential_checks.is_login,
    ),
    CredentialPattern(
        ("htpasswd",),
        r"\bhtpasswd\b(?=[^\n|;]{0,40}[ \t]-[a-zA-Z]{0,5}b)[^\n|;]{0,80}[ \t](?P<u>[\w@.-]{1,60})[ \t]+[\"']?(?P<s>[^\s\"'-][^\s\"']{1,100})[\"']?[ \t]*(?=$|\n|[|;&])",
        credential_checks.is_login,
    ),
    CredentialPattern(
        ("auth",),
        r"(?:\bauth[ \t]{0,4}[=:][ \t]{0,4}[(\[]|\bHTTP(?:Basic|Digest|Proxy)Auth\()[ \t]{0,4}(?P<u>[^\s,()]{1,100}),[ \t]{0,4}(?:\"(?P<s>[^\"\n]{2,200})\"|'(?P<q>[^'\n]{2,200})')[ \t]{0,4}[)\]]",
        lambda match, value: is_secret(value, PASSWORD, is_quoted=True, is_config=True),
    ),
    CredentialPattern(
        ("define",),
        r"#[ \t]{0,8}define[ \t]{1,8}(?P<n>\w{2,60}+)[ \t]{1,40}(?:\"(?P<d>[^\"\n]{3,300})\"|(?P<s>[^\s\"'()]{6,300}))",
        lambda match, value: (
            bool(kind := classify_name(match["n"]))
            and is_secret(value, kind, is_quoted=match["s"] is None, is_config=False)
        ),
    ),
    CredentialPattern(
        ("chpasswd",),
        r"(?:echo|printf)[ \t]{1,4}(?:-\w[ \t]{1,4})?[\"']?(?P<u>[\w.-]{1,60}):(?P<s>[^\s\"'|]{2,100})[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd",
        credential_checks.is_login,
    ),
    CredentialPattern(
        ("-stdin", "sudo -", "--with-token", "passwd", "su "),
        rf"(?:echo|printf)[ \t]{{1,4}}(?:-\w+[ \t]{{1,4}})?{_ARGUMENT_VALUE}[ \t]{{0,4}}\|[^\n|]{{0,120}}(?:--password-stdin|--with-token|--stdin|-S\b|\bpasswd\b|-passin[ \t]stdin|--passphrase-fd|api-key-stdin|\bsu\b)",
        credential_checks.is_password_word,
    ),
    CredentialPattern(
        ("wpa_passphrase",),
        rf"wpa_passphrase[ \t]+[\"']?[^\s\"']{{1,40}}[\"']?[ \t]+{_ARGUMENT_VALUE}",
        credential_checks.is_password_word,
    ),
    CredentialPattern(
        ("rabbitmqctl",),
        rf"rabbitmqctl[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+[\w.-]{{1,60}}[ \t]+{_ARGUMENT_VALUE}",
        credential_checks.is_password_word,
    ),
    CredentialPattern(
        ("identified by", "password", "identified with"),
        r"(?i)\b(?:identified[ \t]{1,4}(?:with[ \t]{1,4}[\w`'\"]{1,40}[ \t]{1,4})?by|(?:with|role|encrypted|login|user)[^\n;]{0,60}?\bpassword|set[ \t]{1,4}password[^\n;]{0,60}?=)[ \t]{1,4}(?:password[ \t]{1,4})?(?:'(?P<q>[^'\n]{2,300})'|\"(?P<s>[^\"\n]{2,300})\")",
        lambda match, value: is_secret(value, PASSWORD, is_quoted=True, is_config=True),
    ),
    CredentialPattern(
        ("requirepass", "masterauth", "password", "passwd"),
        r"(?m)(?:^[ \t>+-]*|(?P<lead>\b(?:machine|login|default|nmcli|user)\b[^\n]{0,200}[ \t]))(?:requirepass|masterauth|password|passwd)[ \t]{1,20}(?P<s>[^\s\"'`<>(){}=:|]{4,200})(?=[ \t]*(?:$|\n|\#|\b(?:account|macdef|machine|port)\b))",
        credential_checks.is_password_line,
    ),
    CredentialPattern(
        ("storepassword", "keypassword", 'password "', "password '"),
        r"(?i)(?P<n>\b\w{0,30}(?:password|passphrase|secret|token))[ \t]{1,4}(?:\"(?P<s>[^\"\n]{3,200})\"|'(?P<q>[^'\n]{3,200})')[ \t]*(?=$|\n|[;,)])",
        lambda match, value: " " not in value and is_secret(value, SECRET, is_quoted=True, is_config=True),
    ),
    CredentialPattern(
        ("kty",),
        r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]{0,4}:[ \t]{0,4}\"(?P<s>[A-Za-z0-9_-]{16,2000})\"",
        credential_checks.is_real_value,
    ),
    CredentialPattern(
        ("password", "passphrase", "passcode", "pwd", "token", "secret", "-key", "_key", " key"),
        r"(?i)\b(?P<n>password|passphrase|passcode|pwd|secret[ _-]key|api[ _-]key|access[ _-]key|access[ _-]token|api[ _-]token|token|secret)[ \t]{1,4}(?:for[ \t][\w .-]{1,40}?[ \t])?(?:is|are|was|to)(?:[ \t]now)?:?[ \t]{1,4}(?:`(?P<b>[^`\n]{3,200})`|\"(?P<d>[^\"\n]{3,200})\"|'(?P<q>[^'\n]{3,200})'|(?P<s>[^\s`\"'<>(){}]{6,200}?)(?=[.,;]?(?:\s|$)))",
        credential_checks.is_stated_secret,
    ),
    CredentialPattern(
        _NAME_NEEDLES,
        r"\|[ \t]*[`*]{0,3}(?P<n>[A-Za-z][\w .-]{1,40}+)[`*]{0,3}[ \t]*(?=\|[ \t]*[`*]{0,3}(?P<s>[^\s|`*]{6,200})[`*]{0,3}[ \t]*(?:\||$|\n))",
        credential_checks.is_random_named_value,
    ),
    CredentialPattern(
        ("5432", "5433", ":*:", "6432"),
        r"(?:^|(?<=[\s\"'`]))(?:[\w.*-]{1,100}+):(?:543\d|6432|\*):(?:[\w.*-]{1,60}+):(?P<u>[\w.*-]{1,60}+):(?P<s>[^\s:\"'`][^\s\"'`]{2,200})",
        credential_checks.is_login,
    ),
    CredentialPattern(
        ("putty", "private-lines"),
        r"Private-Lines: \d+\r?\n(?P<s>(?:[A-Za-z0-9+/=]{4,}\r?\n?){1,400})",
        credential_checks.is_real_value,
    ),
)


@cache
def all_patterns() -> tuple[CredentialPattern, ...]:
    """Return all patterns, including those of programs and of the rule table."""
    programs = [
        CredentialPattern(
            needles, rf"[ \t]{option}{_ARGUMENT_VALUE}", credential_checks.make_option_check(rf"{program}\b")
        )
        for needles, program, option in _PASSWORD_PROGRAMS
    ]
    shapes = [CredentialPattern(needles, pattern, credential_checks.is_rule_match) for _, needles, pattern in SHAPES]
    return (*_PATTERNS, *programs, *shapes)


@cache
def all_needles() -> tuple[str, ...]:
    """Return the needles of all patterns, each once."""
    return tuple(dict.fromkeys([needle for pattern in all_patterns() for needle in pattern.needles]))
