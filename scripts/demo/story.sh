# What every demo starts with: a scratch repository, and functions for sentences and commands.
set -eu

bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi

# Print a sentence, after a blank line unless it is the first.
say() {
    printf "$gap"'%s%s%s\n' "$bold" "$1" "$plain"
    gap='\n'
}

# Show a command line and run it.
run() {
    last=$1
    printf '%s$ %s%s\n' "$dim" "$1" "$plain"
    eval "$1" 2>&1
}

# Show and run a command line that must end with an exit status: refused STATUS COMMAND.
refused() {
    status=0
    run "$2" || status=$?
    printf '%s(exit status %s)%s\n' "$dim" "$status" "$plain"
    [ "$status" -eq "$1" ]
}

# Run a command line and show nothing unless it fails.
quietly() {
    last=$1
    eval "$1" >"$scratch/output" 2>&1 || { cat "$scratch/output"; return 1; }
}

# Print the start of the digest under which a plan's steps are approved.
digest_of() {
    execplan evaluate "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["digest"][:12])'
}

# Remove the scratch repository, and say where a demo that failed has stopped.
finish() {
    status=$?
    cd /
    rm -rf "$scratch"
    [ "$status" -eq 0 ] || echo "demo: stopped with an error at: $last" >&2
    exit "$status"
}

gap='' last='the setup of the scratch repository'
scratch=$(mktemp -d)
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Your settings, git's and those of a surrounding hook or agent session change nothing here.
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CACHE_HOME GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
unset EXECPLAN_AGENT EXECPLAN_AUTHOR EXECPLAN_PLAN EXECPLAN_SESSION
export HOME="$scratch/home" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat PAGER=cat
mkdir "$HOME" "$scratch/repository"
git config --global user.name Ann
git config --global user.email ann@example.org
git config --global init.defaultBranch main
cd "$scratch/repository"
git init -q
