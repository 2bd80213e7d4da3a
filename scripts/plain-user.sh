#!/usr/bin/env bash
# For root: runs the unit tests whose outcome hangs on whose processes, files and git they are, in a clone in the home of a new user
# without rights. What only computes is the same for every user. Both go afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
user=ralph-test-$$
useradd --create-home "$user"
home=$(getent passwd "$user" | cut -d: -f6)
trap 'pkill -KILL -u "$user" || true; userdel --remove "$user" 2>/dev/null' EXIT
git -c safe.directory='*' clone -q . "$home/clone"
cp -R node_modules "$home/clone/"
chown -R "$user": "$home/clone"
cd "$home/clone"
setpriv --reuid="$user" --regid="$user" --init-groups --reset-env env \
  PATH="$home/clone/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" RALPH_REQUIRE=util-linux,python \
  node --test --test-concurrency=2 --test-reporter=spec 'test/unit/{system,git,gates}/**/*.test.ts'
