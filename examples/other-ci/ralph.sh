#!/bin/sh
# Works on one feature until it is complete, stuck, out of budget or out of time. For any CI, and for cron:
#
#   sh ralph.sh FEATURE [flags of `ralph run`]
#
# Run it in a checkout whose `origin` you can push to, with the key of the agent in the environment. Agent and gates are in
# ralph.config.yml. Branch and state are pushed, so the next run continues, on this machine or on another one.
#
#   RALPH          the command, `npx --yes @ralph/action` by default
#   RALPH_MINUTES  ends the work after this time and saves it, 50 by default: keep it below the time limit of the job
set -u
feature=${1:?FEATURE is missing}
shift

# RALPH may have arguments.
# shellcheck disable=SC2086
${RALPH:-npx --yes @ralph/action} run "$feature" --push --no-wait --job-deadline "${RALPH_MINUTES:-50}m" "$@"
code=$?

case $code in
  0) echo "ralph: $feature is complete. Open a merge request for its branch." ;;
  4 | 5)
    # Paused by a person or by a usage limit, or out of time. The next scheduled run continues.
    echo "ralph: $feature is not finished; the next run continues."
    code=0
    ;;
  1 | 2 | 3) echo "ralph: $feature needs you: see the last lines above." ;;
esac
exit "$code"
