"""Commands that only read, each with the flags that do not change this; any other command or flag may do more."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

NO_PATHS: Final = 99
"""Number that stands for all operands: none of them is a path."""


class ReadOnlyCommand(NamedTuple):
    """Flags and operands with which a program only reads."""

    flags: str = ""
    """Flags without a value; one-letter flags can be combined. A flag that ends in `?` may have a value after `=`."""
    value_flags: str = ""
    """Flags with a value that is not a path."""
    leading_texts: int = 0
    """Number of operands before the paths, such as a pattern or a program text."""
    replacing_flags: str = ""
    """Flags that replace these operands."""
    max_operands: int = NO_PATHS
    """Maximum number of operands."""
    min_operands: int = 0
    forbidden_texts: tuple[str, ...] = ()
    """Texts that no operand may contain."""
    allows_numbers: bool = False
    """Whether a number may be a flag: `-20`."""
    required_flag: str = ""
    """Flag without which the command does more than read."""


_GREP = ReadOnlyCommand(
    "-i -n -v -w -x -c -l -L -o -q -s -h -H -r -E -F -P -G -a -I -b --color? --ignore-case --line-number --invert-match --word-regexp "
    "--count --files-with-matches --files-without-match --only-matching --quiet --no-filename --with-filename --recursive --extended-regexp "
    "--fixed-strings --perl-regexp --text --no-messages",
    "-e -A -B -C -m --regexp --after-context --before-context --context --max-count --include --exclude --exclude-dir",
    leading_texts=1,
    replacing_flags="-e --regexp",
    allows_numbers=True,
)
_HEAD_OR_TAIL = ReadOnlyCommand("-q -v", "-n -c --lines --bytes", allows_numbers=True)
_CHECKSUM = ReadOnlyCommand("-b")

READ_ONLY_PROGRAMS: Mapping[str, ReadOnlyCommand] = {
    "basename": ReadOnlyCommand("-a -z", "-s", leading_texts=NO_PATHS),
    "cat": ReadOnlyCommand("-n -b -s -A -e -t -v -E -T -u"),
    "cmp": ReadOnlyCommand("-s -l -b"),
    "column": ReadOnlyCommand("-t", "-s"),
    "comm": ReadOnlyCommand("-1 -2 -3"),
    "cut": ReadOnlyCommand("-s --complement", "-d -f -c -b --output-delimiter --delimiter --fields"),
    "date": ReadOnlyCommand("-u -R --utc", leading_texts=NO_PATHS, max_operands=0),
    "df": ReadOnlyCommand("-h -k"),
    "diff": ReadOnlyCommand(
        "-u -r -q -b -w -B -i -N -y --brief --unified --recursive --color? --ignore-all-space --ignore-space-change --new-file",
        "-U",
    ),
    "dirname": ReadOnlyCommand(leading_texts=NO_PATHS),
    "du": ReadOnlyCommand("-s -h -a -c -k -m --summarize --human-readable", "-d --max-depth"),
    "egrep": _GREP,
    "false": ReadOnlyCommand(leading_texts=NO_PATHS),
    "fgrep": _GREP,
    "file": ReadOnlyCommand("-b -i"),
    "fold": ReadOnlyCommand("-s", "-w"),
    "grep": _GREP,
    "head": _HEAD_OR_TAIL,
    "hexdump": ReadOnlyCommand("-C -c", "-n -s"),
    "jq": ReadOnlyCommand(
        "-r -c -s -S -e -M -C -n -j --raw-output --compact-output --slurp --sort-keys",
        leading_texts=1,
        min_operands=1,
        forbidden_texts=("env", "ENV", "input_filename", "import", "include", "$__prog"),
    ),
    "ls": ReadOnlyCommand(
        "-a -A -l -h -1 -R -t -r -S -d -F -p -i -s -k -n -o -g -G --color? --all --almost-all --human-readable --recursive --reverse "
        "--directory --classify --full-time --group-directories-first",
        "--time-style --sort",
    ),
    "md5sum": _CHECKSUM,
    "nl": ReadOnlyCommand("", "-b -w -s"),
    "od": ReadOnlyCommand("-c -x -b -v", "-A -t -N -j"),
    "printf": ReadOnlyCommand(leading_texts=NO_PATHS),
    "pwd": ReadOnlyCommand("-P -L", leading_texts=NO_PATHS, max_operands=0),
    "readlink": ReadOnlyCommand("-f -e -m -n"),
    "realpath": ReadOnlyCommand("-e -m -s"),
    "rev": ReadOnlyCommand(),
    "rg": ReadOnlyCommand(
        "-i -n -v -w -x -c -l -o -q -s -S -F -U -N -H -I -P --files --json --ignore-case --line-number --invert-match --word-regexp "
        "--count --files-with-matches --files-without-match --only-matching --quiet --smart-case --fixed-strings --multiline "
        "--no-heading --heading --no-line-number --with-filename --no-filename --trim --stats --no-config",
        "-e -A -B -C -m -g -t -T --regexp --after-context --before-context --context --max-count --glob --type --type-not "
        "--max-depth --color --colors --sort",
        leading_texts=1,
        replacing_flags="-e --regexp --files",
        allows_numbers=True,
    ),
    "sha1sum": _CHECKSUM,
    "sha256sum": _CHECKSUM,
    "sha512sum": _CHECKSUM,
    "sleep": ReadOnlyCommand(leading_texts=NO_PATHS),
    "sort": ReadOnlyCommand(
        "-n -r -u -h -f -V -b -d -g --numeric-sort --reverse --unique --human-numeric-sort --version-sort",
        "-k -t --key",
    ),
    "stat": ReadOnlyCommand("-L", "-c --format"),
    "strings": ReadOnlyCommand("-a", "-n"),
    "tac": ReadOnlyCommand(),
    "tail": _HEAD_OR_TAIL,
    "tr": ReadOnlyCommand("-d -s -c", leading_texts=NO_PATHS),
    "tree": ReadOnlyCommand("-a -d -h -s -f -i --noreport --dirsfirst --gitignore --prune", "-L -I -P"),
    "true": ReadOnlyCommand(leading_texts=NO_PATHS),
    "uname": ReadOnlyCommand("-a -s -r -m -n -v -p -o", leading_texts=NO_PATHS, max_operands=0),
    "uniq": ReadOnlyCommand("-c -d -u -i", "-f -s -w", max_operands=1),
    "wc": ReadOnlyCommand("-l -w -c -m -L --lines --words --bytes --chars"),
    "which": ReadOnlyCommand("-a", leading_texts=NO_PATHS),
    "whoami": ReadOnlyCommand(leading_texts=NO_PATHS, max_operands=0),
}
"""Programs that only read, with their flags and operands."""

_DIFF = (
    "--stat --numstat --shortstat --name-only --name-status --summary --check --raw --patch -p -s --no-patch -w -b --color? --no-color "
    "--word-diff? --minimal --patience --histogram --full-index --abbrev? --unified? --find-renames? --no-renames --cached --staged "
    "--merge-base -M --no-prefix"
)
_DIFF_VALUES = "-U -S -G --diff-filter"
_LOG = (
    f"{_DIFF} --oneline --graph --decorate? --all --branches --tags --reverse --merges --no-merges --first-parent --follow "
    "--abbrev-commit --topo-order --date-order --no-decorate --left-right --cherry-pick --pretty?"
)
_LOG_VALUES = f"{_DIFF_VALUES} -n -L --max-count --skip --since --until --after --before --author --committer --grep --format --date"
_LOG_OR_SHOW = ReadOnlyCommand(_LOG, _LOG_VALUES, allows_numbers=True)

GIT_SUBCOMMANDS: Mapping[str, ReadOnlyCommand] = {
    "blame": ReadOnlyCommand("-e -s -w -M -l -t --show-email", "-L --date"),
    "branch": ReadOnlyCommand(
        "-a -r -v -vv --all --remotes --list --show-current --verbose --no-color --merged --no-merged", max_operands=0
    ),
    "cat-file": ReadOnlyCommand("-p -t -s -e"),
    "check-attr": ReadOnlyCommand("-a --all"),
    "check-ignore": ReadOnlyCommand("-v -q -n"),
    "count-objects": ReadOnlyCommand("-v -H"),
    "describe": ReadOnlyCommand("--tags --always --dirty --all --long --exact-match", "--abbrev --match"),
    "diff": ReadOnlyCommand(_DIFF, _DIFF_VALUES),
    "diff-tree": ReadOnlyCommand(f"{_DIFF} -r --no-commit-id --root", _DIFF_VALUES),
    "for-each-ref": ReadOnlyCommand("", "--format --sort --count"),
    "grep": ReadOnlyCommand(
        "-i -n -l -w -c -E -F -P -h -H -q -o -v --cached --heading --break",
        "-e -A -B -C",
        leading_texts=1,
        replacing_flags="-e",
    ),
    "log": _LOG_OR_SHOW,
    "ls-files": ReadOnlyCommand(
        "-m -o -d -s -c -u -t --others --modified --deleted --cached --stage --unmerged --exclude-standard --error-unmatch --full-name"
    ),
    "ls-tree": ReadOnlyCommand("-r -l -d -t --name-only --full-tree --full-name --long"),
    "merge-base": ReadOnlyCommand("--is-ancestor --all --fork-point"),
    "name-rev": ReadOnlyCommand("--name-only --tags --always"),
    "reflog": ReadOnlyCommand(max_operands=0),
    "remote": ReadOnlyCommand(max_operands=0),
    "rev-list": ReadOnlyCommand(
        "--count --all --no-merges --first-parent --reverse", "-n --max-count --since --until", allows_numbers=True
    ),
    "rev-parse": ReadOnlyCommand(
        "-q --verify --quiet --show-toplevel --abbrev-ref? --short? --git-dir --is-inside-work-tree --show-prefix --show-cdup --symbolic-full-name"
    ),
    "shortlog": ReadOnlyCommand("-s -n -e --summary --numbered --email", min_operands=1),
    "show": _LOG_OR_SHOW,
    "show-ref": ReadOnlyCommand("--heads --tags --verify -q --hash"),
    "stash list": ReadOnlyCommand(max_operands=0),
    "stash show": ReadOnlyCommand("-p --stat --name-only", max_operands=1),
    "status": ReadOnlyCommand(
        "-s -b -v --short --branch --long --verbose --porcelain? --untracked-files? --ignored? --no-renames --show-stash -u -uno -uall"
    ),
    "tag": ReadOnlyCommand("-l --list -n", max_operands=0),
    "worktree list": ReadOnlyCommand("--porcelain", max_operands=0),
}
"""Subcommands of git that only read, with their flags and operands, after `git` or `git --no-pager`."""

FIND_EXPRESSIONS: Mapping[str, int] = {
    **dict.fromkeys(
        "-empty -print -print0 -ls -prune -not ! -a -o -and -or ( ) , -depth -xdev -mount -true -false -daystart".split(),
        0,
    ),
    **dict.fromkeys(
        "-name -iname -path -ipath -wholename -type -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime -amin -regex -iregex "
        "-regextype -user -group -links -inum -printf".split(),
        1,
    ),
}
"""Expressions of `find` that are allowed after its paths, each with its number of operands."""

VERSION_PROGRAMS = frozenset(
    "python python3 node npm pnpm yarn cargo rustc ruby java gcc clang make cmake git go pip uv docker".split()
)
"""Programs that may be called to print their version."""
