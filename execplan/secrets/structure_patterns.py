"""Patterns of structures that contain secrets: URLs, headers, options, calls, elements, and program and file formats.

A pattern is compiled when one of its needles is in a text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from execplan.secrets import structure_checks
from execplan.secrets.secret_table import SHAPES
from execplan.secrets.value_classification import PASSWORD, SECRET, is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ARGUMENT_VALUE: Final = r"(?:\"(?P<d>[^\"\n]{1,500})\"?|'(?P<q>[^'\n]{1,500})'?|(?P<s>[^\s\"'`;|&<>()]{1,500}))"
"""Pattern of a command-line word; the value is in one of three groups."""


_NAME_NEEDLES: Final = tuple(
    "pass pwd pw secret token key cred auth cookie sess jwt dsn pepper psk hook sig salt bearer".split()
)
"""Parts of the names to which secrets are assigned."""


class Structure(NamedTuple):
    """A pattern that is searched for where one of its needles is in the text."""

    needles: tuple[str, ...]
    """Needles in lower case; if empty, the pattern is always searched for."""
    pattern: str
    is_secret_match: Callable[[re.Match[str], str], bool]
    """Check of whether a match with its value is a secret."""


_PASSWORD_PROGRAMS: Final = (
    (("mysql", "mariadb"), r"(?:mysql|mariadb)[\w-]{0,12}", r"-p(?!ort|rot)"),
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

_STRUCTURES: Final = (
    Structure(
        ("://",),
        r"[A-Za-z][A-Za-z0-9+.-]{0,20}://(?P<u>[^\s/@:\"'`<>]{0,100}):(?P<s>[^\s/\"'`<>]{1,300})@(?=[\w\[$.*-])",
        structure_checks.is_login,
    ),
    Structure(("://",), r"://(?P<s>[^\s/@:\"'`<>]{16,400})(?:@|:(?:x-oauth-basic)?@)", structure_checks.is_user_token),
    Structure(
        ("://",),
        r"://(?P<s>[^\s/@:\"'`<>]{6,400}:[^\s/@:\"'`<>]{6,400})@(?:gems|enterprise)\.contribsys\.com",
        structure_checks.is_real_value,
    ),
    Structure(
        ("://",),
        r"://(?:oauth2|x-access-token|token|git|gitlab-ci-token|__token__):(?P<s>[^\s/@\"'`<>$]{4,400})@",
        structure_checks.is_real_value,
    ),
    Structure(
        ("authorization",),
        r"(?i)authorization[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?:bearer|basic|token|apikey|api-key|digest|negotiate|ntlm|hawk|aws4-hmac-sha256|oauth|signature|ssws|bot)[ \t]+(?P<s>(?:[^\"'`\\\n<>${}=]|=(?:\"[^\"\n]{0,400}\")?){4,4000})",
        structure_checks.is_header,
    ),
    Structure(
        ("bearer ", "basic "),
        r"(?i)\b(?P<scheme>bearer|basic)[ \t]{1,4}(?P<s>[\w.~+/=%-]{6,4000})",
        structure_checks.is_bearer,
    ),
    Structure(
        ("cookie",),
        r"(?i)\bcookie[\"'`]?[ \t]{0,4}:[ \t]{0,4}[\"'`]?(?P<s>[^\"'`\n]{6,4000})",
        structure_checks.is_cookie,
    ),
    Structure(
        ("-u", "--user", "--proxy-user", "--auth", " -a "),
        r"[ \t](?:-u|--user|--proxy-user|-U|-a|--auth)[ \t=]{0,3}(?:\"(?P<u>[^\s\":/]{0,100}):(?P<d>[^\"\n]{1,200})\"?|'(?P<u1>[^\s':/]{0,100}):(?P<q>[^'\n]{1,200})'?|(?P<u2>[^\s\"':/]{0,100}):(?P<s>[^\s\"'`;|&<>()]{1,200}))",
        structure_checks.is_curl_password,
    ),
    Structure(
        _NAME_NEEDLES,
        rf"--?(?P<n>[A-Za-z][\w-]{{1,60}}+)[ \t]{{1,8}}(?:\\\n[ \t]{{0,20}})?(?!-){_ARGUMENT_VALUE}",
        structure_checks.is_option_value,
    ),
    Structure(
        ("</",),
        r"<(?P<n>[\w:.-]{2,60}+)(?:[ \t][^<>\n]{0,200})?>(?:<!\[CDATA\[)?\s{0,40}(?P<s>[^<>\n]{3,2000}?)\s{0,40}(?:\]\]>)?</",
        structure_checks.is_named_value,
    ),
    Structure(
        ("value=", "content=", "value =", "default="),
        r"(?i)\b(?:name|key|id|ref)[ \t]?=[ \t]?[\"'](?P<n>[\w.:-]{2,80})[\"'][^<>\n]{0,120}?\b(?:value|content|default)[ \t]?=[ \t]?[\"'](?P<s>[^\"'\n]{3,500})[\"']",
        structure_checks.is_named_value,
    ),
    Structure(
        ("name=", "key="),
        r"<[\w:.-]{1,40}[ \t][^<>\n]{0,120}?(?:name|key|id)=[\"'](?P<n>[\w.:-]{2,80})[\"'][^<>\n]{0,120}>(?P<s>[^<>\n]{3,500})</",
        structure_checks.is_named_value,
    ),
    Structure(
        ("<key>",),
        r"<key>(?P<n>[\w. :-]{2,60})</key>\s{0,40}<(?:string|data)>\s{0,40}(?P<s>[^<>]{3,4000}?)\s{0,40}</",
        structure_checks.is_named_value,
    ),
    Structure(
        ("value", "default"),
        r"(?i)(?<![\w-])(?:name|key|parameterkey|variable)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<n>[\w.-]{2,80}+)[\"']?[ \t]{0,4},?\s{1,60}[\"']?(?:value|parametervalue|default)[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?:\"(?P<d>[^\"\n]{1,500})\"|'(?P<q>[^'\n]{1,500})'|(?P<s>[^\s\"'{},&|>*!]{3,500}))",
        structure_checks.is_variable_value,
    ),
    Structure(
        ("variable",),
        r"variable[ \t]{1,4}\"(?P<n>[\w-]{2,80})\"[ \t]{0,4}\{[^{}]{0,600}?default[ \t]{0,20}=[ \t]{0,20}\"(?P<s>[^\"\n]{3,500})\"",
        structure_checks.is_named_value,
    ),
    Structure(
        ('("', "('"),
        r"(?i)\b(?:set|with|put|use|add)_?(?P<n>[A-Za-z_]{2,60}+)\([ \t]{0,4}[\"'](?P<s>[^\"'\n]{3,500})[\"'][ \t]{0,4}\)",
        structure_checks.is_named_value,
    ),
    Structure(
        ("securestring",),
        rf"(?i)securestring[ \t]{{1,4}}(?:-string[ \t]{{1,4}})?{_ARGUMENT_VALUE}",
        structure_checks.is_password_word,
    ),
    Structure(
        ("',", '",', "' ,"),
        r"[\"'](?P<n>[\w.-]{2,80}+)[\"'][ \t]{0,4},[ \t]{0,12}[\"'](?P<s>[^\"'\n]{3,2000})[\"']",
        structure_checks.is_call_argument,
    ),
    Structure(
        ("setenv", "set -", "env ", "setx", "arg ", "configure set", "config "),
        rf"(?m)(?:^|[\s;&|])(?:setenv|set[ \t]+-[a-zA-Z]{{1,4}}|ENV|setx|aws[ \t]configure[ \t]set|(?:git|npm|yarn|pip|composer|gcloud|pnpm|poetry|dvc|conda|gem|bundle)[ \t]config(?:[ \t](?:set|--\w+)){{0,2}})[ \t]+(?:--\w+[ \t]+)?(?P<n>[\w.:/-]{{2,120}}+)[ \t]+{_ARGUMENT_VALUE}",
        structure_checks.is_variable_value,
    ),
    Structure(
        ("from-literal",),
        rf"--from-literal[ \t=]{{1,3}}[\"']?[\w.-]{{1,80}}={_ARGUMENT_VALUE}",
        structure_checks.is_password_word,
    ),
    Structure(
        ("pass:",),
        r"\bpass:(?P<s>[^\s\"'`;|&<>()]{2,200})",
        lambda match, value: is_secret(value, PASSWORD, is_quoted=False, is_config=True),
    ),
    Structure(
        ("sqlplus", "rman", "expdp", "impdp"),
        r"\b(?:sqlplus|rman|expdp|impdp|sqlldr)\b[^\n]{0,80}?[ \t](?P<u>[\w$#]{1,60})/(?P<s>[^\s\"'@/]{2,100})@",
        structure_checks.is_login,
    ),
    Structure(
        ("smbclient", "rpcclient", "net ", "mount"),
        r"\b(?:smbclient|rpcclient|net|smbget|winexe)\b[^\n]{0,120}?(?:-U|--user)[ \t=]{0,3}[\"']?(?P<u>[^\s%\"']{1,60})%(?P<s>[^\s\"']{2,100})",
        structure_checks.is_login,
    ),
    Structure(
        ("htpasswd",),
        r"\bhtpasswd\b(?=[^\n|;]{0,40}[ \t]-[a-zA-Z]{0,5}b)[^\n|;]{0,80}[ \t](?P<u>[\w@.-]{1,60})[ \t]+[\"']?(?P<s>[^\s\"'-][^\s\"']{1,100})[\"']?[ \t]*(?=$|\n|[|;&])",
        structure_checks.is_login,
    ),
    Structure(
        ("chpasswd",),
        r"(?:echo|printf)[ \t]{1,4}(?:-\w[ \t]{1,4})?[\"']?(?P<u>[\w.-]{1,60}):(?P<s>[^\s\"'|]{2,100})[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd",
        structure_checks.is_login,
    ),
    Structure(
        ("-stdin", "sudo -", "--with-token", "passwd", "su "),
        rf"(?:echo|printf)[ \t]{{1,4}}(?:-\w+[ \t]{{1,4}})?{_ARGUMENT_VALUE}[ \t]{{0,4}}\|[^\n|]{{0,120}}(?:--password-stdin|--with-token|--stdin|-S\b|\bpasswd\b|-passin[ \t]stdin|--passphrase-fd|api-key-stdin|\bsu\b)",
        structure_checks.is_password_word,
    ),
    Structure(
        ("wpa_passphrase",),
        rf"wpa_passphrase[ \t]+[\"']?[^\s\"']{{1,40}}[\"']?[ \t]+{_ARGUMENT_VALUE}",
        structure_checks.is_password_word,
    ),
    Structure(
        ("rabbitmqctl",),
        rf"rabbitmqctl[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+[\w.-]{{1,60}}[ \t]+{_ARGUMENT_VALUE}",
        structure_checks.is_password_word,
    ),
    Structure(
        ("identified by", "password", "identified with"),
        r"(?i)\b(?:identified[ \t]{1,4}(?:with[ \t]{1,4}[\w`'\"]{1,40}[ \t]{1,4})?by|(?:with|role|encrypted|login|user)[^\n;]{0,60}?\bpassword|set[ \t]{1,4}password[^\n;]{0,60}?=)[ \t]{1,4}(?:password[ \t]{1,4})?(?:'(?P<q>[^'\n]{2,300})'|\"(?P<s>[^\"\n]{2,300})\")",
        lambda match, value: is_secret(value, PASSWORD, is_quoted=True, is_config=True),
    ),
    Structure(
        ("requirepass", "masterauth", "password", "passwd"),
        r"(?m)(?:^[ \t>+-]*|(?P<lead>\b(?:machine|login|default|nmcli|user)\b[^\n]{0,200}[ \t]))(?:requirepass|masterauth|password|passwd)[ \t]{1,20}(?P<s>[^\s\"'`<>(){}=:|]{4,200})(?=[ \t]*(?:$|\n|\#|\b(?:account|macdef|machine|port)\b))",
        structure_checks.is_password_line,
    ),
    Structure(
        ("storepassword", "keypassword", 'password "', "password '"),
        r"(?i)(?P<n>\b\w{0,30}(?:password|passphrase|secret|token))[ \t]{1,4}(?:\"(?P<s>[^\"\n]{3,200})\"|'(?P<q>[^'\n]{3,200})')[ \t]*(?=$|\n|[;,)])",
        lambda match, value: " " not in value and is_secret(value, SECRET, is_quoted=True, is_config=True),
    ),
    Structure(
        ("kty",),
        r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]{0,4}:[ \t]{0,4}\"(?P<s>[A-Za-z0-9_-]{16,2000})\"",
        structure_checks.is_real_value,
    ),
    Structure(
        ("password", "passphrase", "passcode", "pwd", "token", "secret", "-key", "_key", " key"),
        r"(?i)\b(?P<n>password|passphrase|passcode|pwd|secret[ _-]key|api[ _-]key|access[ _-]key|access[ _-]token|api[ _-]token|token|secret)[ \t]{1,4}(?:for[ \t][\w .-]{1,40}?[ \t])?(?:is|are|was|to)(?:[ \t]now)?:?[ \t]{1,4}(?:`(?P<b>[^`\n]{3,200})`|\"(?P<d>[^\"\n]{3,200})\"|'(?P<q>[^'\n]{3,200})'|(?P<s>[^\s`\"'<>(){}]{6,200}?)(?=[.,;]?(?:\s|$)))",
        structure_checks.is_stated_secret,
    ),
    Structure(
        _NAME_NEEDLES,
        r"\|[ \t]*[`*]{0,3}(?P<n>[A-Za-z][\w .-]{1,40}+)[`*]{0,3}[ \t]*(?=\|[ \t]*[`*]{0,3}(?P<s>[^\s|`*]{6,200})[`*]{0,3}[ \t]*(?:\||$|\n))",
        structure_checks.is_random_named_value,
    ),
    Structure(
        ("5432", "5433", ":*:", "6432"),
        r"(?:^|(?<=[\s\"'`]))(?:[\w.*-]{1,100}+):(?:543\d|6432|\*):(?:[\w.*-]{1,60}+):(?P<u>[\w.*-]{1,60}+):(?P<s>[^\s:\"'`][^\s\"'`]{2,200})",
        structure_checks.is_login,
    ),
    Structure(
        ("putty", "private-lines"),
        r"Private-Lines: \d+\r?\n(?P<s>(?:[A-Za-z0-9+/=]{4,}\r?\n?){1,400})",
        structure_checks.is_real_value,
    ),
)


@cache
def all_structures() -> tuple[Structure, ...]:
    """Return all structures, including those of programs and of the rule table."""
    programs = [
        Structure(needles, rf"[ \t]{option}{_ARGUMENT_VALUE}", structure_checks.make_option_check(rf"{program}\b"))
        for needles, program, option in _PASSWORD_PROGRAMS
    ]
    shapes = [Structure(needles, pattern, structure_checks.is_rule_match) for _, needles, pattern in SHAPES]
    return (*_STRUCTURES, *programs, *shapes)
