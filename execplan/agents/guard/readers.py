"""The commands that only read, each with the flags that are known to change nothing of that; whatever is not here does more."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

NO_PATHS: Final = 99
"""In place of a number of words: none of them is a path."""


class Reads(NamedTuple):
    """How a program is told to read."""

    flags: str = ""
    """Flags without a value; letters alone may stand together behind one hyphen. Behind one with `?` a value may be joined with `=`."""
    values: str = ""
    """Flags with a value, which is no path."""
    texts: int = 0
    """How many words stand in front of the paths: a pattern, a program."""
    without: str = ""
    """Flags that stand in for these words."""
    most: int = NO_PATHS
    """How many words there may be."""
    least: int = 0
    never: tuple[str, ...] = ()
    """What no word may hold."""
    numbers: bool = False
    """Whether a number may be a flag: `-20`."""
    needs: str = ""
    """A flag without which it does more than read."""


_GREP = Reads(
    "-i -n -v -w -x -c -l -L -o -q -s -h -H -r -E -F -P -G -a -I -b --color? --ignore-case --line-number --invert-match --word-regexp "
    "--count --files-with-matches --files-without-match --only-matching --quiet --no-filename --with-filename --recursive --extended-regexp "
    "--fixed-strings --perl-regexp --text --no-messages",
    "-e -A -B -C -m --regexp --after-context --before-context --context --max-count --include --exclude --exclude-dir",
    texts=1,
    without="-e --regexp",
    numbers=True,
)
_LINES = Reads("-q -v", "-n -c --lines --bytes", numbers=True)
_SUM = Reads("-b")

PROGRAMS: Mapping[str, Reads] = {
    "basename": Reads("-a -z", "-s", texts=NO_PATHS),
    "cat": Reads("-n -b -s -A -e -t -v -E -T -u"),
    "cmp": Reads("-s -l -b"),
    "column": Reads("-t", "-s"),
    "comm": Reads("-1 -2 -3"),
    "cut": Reads("-s --complement", "-d -f -c -b --output-delimiter --delimiter --fields"),
    "date": Reads("-u -R --utc", texts=NO_PATHS, most=0),
    "df": Reads("-h -k"),
    "diff": Reads(
        "-u -r -q -b -w -B -i -N -y --brief --unified --recursive --color? --ignore-all-space --ignore-space-change --new-file",
        "-U",
    ),
    "dirname": Reads(texts=NO_PATHS),
    "du": Reads("-s -h -a -c -k -m --summarize --human-readable", "-d --max-depth"),
    "echo": Reads("-n", texts=NO_PATHS),
    "egrep": _GREP,
    "false": Reads(texts=NO_PATHS),
    "fgrep": _GREP,
    "file": Reads("-b -i"),
    "fold": Reads("-s", "-w"),
    "grep": _GREP,
    "head": _LINES,
    "hexdump": Reads("-C -c", "-n -s"),
    "jq": Reads(
        "-r -c -s -S -e -M -C -n -j --raw-output --compact-output --slurp --sort-keys",
        texts=1,
        least=1,
        never=("env", "ENV", "input_filename", "import", "include", "$__prog"),
    ),
    "ls": Reads(
        "-a -A -l -h -1 -R -t -r -S -d -F -p -i -s -k -n -o -g -G --color? --all --almost-all --human-readable --recursive --reverse "
        "--directory --classify --full-time --group-directories-first",
        "--time-style --sort",
    ),
    "md5sum": _SUM,
    "nl": Reads("", "-b -w -s"),
    "od": Reads("-c -x -b -v", "-A -t -N -j"),
    "printf": Reads(texts=NO_PATHS),
    "pwd": Reads("-P -L", texts=NO_PATHS, most=0),
    "readlink": Reads("-f -e -m -n"),
    "realpath": Reads("-e -m -s"),
    "rev": Reads(),
    "rg": Reads(
        "-i -n -v -w -x -c -l -o -q -s -S -F -U -N -H -I -P --files --json --ignore-case --line-number --invert-match --word-regexp "
        "--count --files-with-matches --files-without-match --only-matching --quiet --smart-case --fixed-strings --multiline "
        "--no-heading --heading --no-line-number --with-filename --no-filename --trim --stats --no-config",
        "-e -A -B -C -m -g -t -T --regexp --after-context --before-context --context --max-count --glob --type --type-not "
        "--max-depth --color --colors --sort",
        texts=1,
        without="-e --regexp --files",
        numbers=True,
    ),
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "sha512sum": _SUM,
    "sleep": Reads(texts=NO_PATHS),
    "sort": Reads(
        "-n -r -u -h -f -V -b -d -g --numeric-sort --reverse --unique --human-numeric-sort --version-sort",
        "-k -t --key",
    ),
    "stat": Reads("-L", "-c --format"),
    "strings": Reads("-a", "-n"),
    "tac": Reads(),
    "tail": _LINES,
    "tr": Reads("-d -s -c", texts=NO_PATHS),
    "tree": Reads("-a -d -h -s -f -i --noreport --dirsfirst --gitignore --prune", "-L -I -P"),
    "true": Reads(texts=NO_PATHS),
    "uname": Reads("-a -s -r -m -n -v -p -o", texts=NO_PATHS, most=0),
    "uniq": Reads("-c -d -u -i", "-f -s -w", most=1),
    "wc": Reads("-l -w -c -m -L --lines --words --bytes --chars"),
    "which": Reads("-a", texts=NO_PATHS),
    "whoami": Reads(texts=NO_PATHS, most=0),
}
"""What each program takes, beside words."""

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
_LOOKS = Reads(_LOG, _LOG_VALUES, numbers=True)

GIT: Mapping[str, Reads] = {
    "blame": Reads("-e -s -w -M -l -t --show-email", "-L --date"),
    "branch": Reads(
        "-a -r -v -vv --all --remotes --list --show-current --verbose --no-color --merged --no-merged", most=0
    ),
    "cat-file": Reads("-p -t -s -e"),
    "check-attr": Reads("-a --all"),
    "check-ignore": Reads("-v -q -n"),
    "count-objects": Reads("-v -H"),
    "describe": Reads("--tags --always --dirty --all --long --exact-match", "--abbrev --match"),
    "diff": Reads(_DIFF, _DIFF_VALUES),
    "diff-tree": Reads(f"{_DIFF} -r --no-commit-id --root", _DIFF_VALUES),
    "for-each-ref": Reads("", "--format --sort --count"),
    "grep": Reads(
        "-i -n -l -w -c -E -F -P -h -H -q -o -v --cached --heading --break", "-e -A -B -C", texts=1, without="-e"
    ),
    "log": _LOOKS,
    "ls-files": Reads(
        "-m -o -d -s -c -u -t --others --modified --deleted --cached --stage --unmerged --exclude-standard --error-unmatch --full-name"
    ),
    "ls-tree": Reads("-r -l -d -t --name-only --full-tree --full-name --long"),
    "merge-base": Reads("--is-ancestor --all --fork-point"),
    "name-rev": Reads("--name-only --tags --always"),
    "reflog": Reads(most=0),
    "remote": Reads(most=0),
    "rev-list": Reads(
        "--count --all --no-merges --first-parent --reverse", "-n --max-count --since --until", numbers=True
    ),
    "rev-parse": Reads(
        "-q --verify --quiet --show-toplevel --abbrev-ref? --short? --git-dir --is-inside-work-tree --show-prefix --show-cdup --symbolic-full-name"
    ),
    "shortlog": Reads("-s -n -e --summary --numbered --email", least=1),
    "show": _LOOKS,
    "show-ref": Reads("--heads --tags --verify -q --hash"),
    "stash list": Reads(most=0),
    "stash show": Reads("-p --stat --name-only", most=1),
    "status": Reads(
        "-s -b -v --short --branch --long --verbose --porcelain? --untracked-files? --ignored? --no-renames --show-stash -u -uno -uall"
    ),
    "tag": Reads("-l --list -n", most=0),
    "worktree list": Reads("--porcelain", most=0),
}
"""What each verb of git takes, where it only looks; behind `git`, or `git --no-pager`."""

FIND: Mapping[str, int] = {
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
"""What may stand behind the paths of `find`, with how many words behind it."""

ASKED = frozenset(
    "python python3 node npm pnpm yarn cargo rustc ruby java gcc clang make cmake git go pip uv docker".split()
)
"""Programs that may be asked for their version."""
