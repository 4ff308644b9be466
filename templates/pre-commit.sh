# Checks the staged plans of a commit. To remove this: execplan uninstall git-hooks
execplan_python={python}
if [ ! -x "$execplan_python" ]; then
  echo "execplan: $execplan_python no longer exists, so plans are not checked; to fix this: execplan install git-hooks" >&2
elif ! execplan_output=$("$execplan_python" -P -m execplan lint --staged --hook --fix -q 2>&1 </dev/null); then
  if "$execplan_python" -P -c 'import execplan' 2>/dev/null; then
    execplan_skip=', or skip the check: git commit --no-verify'
    [ -z "${EXECPLAN_AGENT-}${EXECPLAN_SESSION-}${CLAUDE_CODE_SESSION_ID-}${CODEX_THREAD_ID-}" ] || execplan_skip=
    printf '%s\n' "$execplan_output" "execplan: nothing was committed; fix the errors and stage the plans$execplan_skip" >&2
    exit 1
  fi
  echo "execplan: execplan is not installed for $execplan_python, so plans are not checked; to fix this: execplan install git-hooks" >&2
fi
