// Hosts that an agent may reach in addition to its model: names, `*.` for subdomains, and presets for package registries. Pure.

/**
 * Leaves out every host to which anyone may upload (storage.googleapis.com), and hosts that serve only for publishing. Two exceptions
 * remain: registry.npmjs.org and plugins.gradle.org take uploads at the same address as downloads (docs/isolation.md).
 */
export const NETWORK_PRESETS: Readonly<Record<string, readonly string[]>> = {
  npm: ['registry.npmjs.org', 'registry.yarnpkg.com', 'npm.jsr.io'],
  pypi: ['pypi.org', 'files.pythonhosted.org'],
  crates: ['index.crates.io', 'static.crates.io'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  maven: ['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'services.gradle.org'],
  apt: [
    'deb.debian.org',
    'security.debian.org',
    'archive.ubuntu.com',
    'security.ubuntu.com',
    'azure.archive.ubuntu.com',
    'ports.ubuntu.com',
  ],
}

const HOST =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::\d{1,5})?$/

const IPV4 = /^\d+(?:\.\d+){3}$/

/** Whether an entry of `network-allow` is valid: a preset, or a host or IPv4 address with an optional port. */
export function isAllowEntry(entry: string): boolean {
  const [, port = '443'] = entry.split(':')
  return Object.hasOwn(NETWORK_PRESETS, entry) || (HOST.test(entry.toLowerCase()) && Number(port) <= 65_535)
}

/** Whether a host and port is on the list; an entry without a port means 443 and 80. */
export function isAllowed(list: readonly string[], host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return list
    .flatMap((entry) =>
      Object.hasOwn(NETWORK_PRESETS, entry) ? (NETWORK_PRESETS[entry] ?? []) : [entry.toLowerCase()],
    )
    .some((entry) => {
      const [pattern = '', wantedPort] = entry.split(':')
      if (wantedPort === undefined ? port !== 443 && port !== 80 : port !== Number(wantedPort)) return false
      // `*.0.5` does not match an address.
      if (pattern.startsWith('*.')) return !IPV4.test(name) && name.endsWith(pattern.slice(1))
      return name === pattern
    })
}
