#!/usr/bin/env bash
# Installs what the tests need of a machine with Debian or Ubuntu (test/machine/needs.ts), where it is missing: as root or by sudo.
set -euo pipefail
has() { command -v "$1" >/dev/null || [ -x "$1" ]; }
wanted=()
has google-chrome || has chromium || wanted+=(chromium)
has nft || has /usr/sbin/nft || wanted+=(nftables)
has ip || has /usr/sbin/ip || wanted+=(iproute2)
has setpriv || wanted+=(util-linux)
has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || wanted+=(postgresql)
has /usr/bin/python3 || wanted+=(python3)
has zsh || wanted+=(zsh)
has fish || wanted+=(fish)
[ ${#wanted[@]} -gt 0 ] || exit 0
root=()
[ "$(id -u)" = 0 ] || root=(sudo)
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${wanted[@]}" >/dev/null
