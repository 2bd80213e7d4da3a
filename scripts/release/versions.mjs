// The version of a checkout: package.json decides, and every other file that names one must name the same.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const SEMVER = /^\d+\.\d+\.\d+$/

/** The version, and where another file disagrees. `version` is null where package.json has none. */
export function versionsIn(root) {
  const text = (path) => {
    try {
      return readFileSync(join(root, path), 'utf8')
    } catch {
      return ''
    }
  }
  const json = (path) => {
    try {
      return JSON.parse(text(path))
    } catch {
      return {}
    }
  }
  const { version } = json('package.json')
  if (typeof version !== 'string' || !SEMVER.test(version)) {
    const found = version === undefined ? 'no version' : JSON.stringify(version)
    const mistake = { path: 'package.json', found, expected: 'a version x.y.z', fix: 'write one' }
    return { version: null, mistakes: [mistake] }
  }
  const lock = json('package-lock.json')
  const named = {
    'package-lock.json': lock.version === lock.packages?.['']?.version ? lock.version : undefined,
    '.release-please-manifest.json': json('.release-please-manifest.json')['.'],
    'src/engine/model/version.ts': /VERSION = '([^']*)'/.exec(text('src/engine/model/version.ts'))?.[1],
    'CHANGELOG.md': /^## \[?(\d+\.\d+\.\d+)/m.exec(text('CHANGELOG.md'))?.[1],
  }
  const mistakes = Object.entries(named)
    .filter(([, one]) => one !== version)
    .map(([path, one]) => ({
      path,
      found: one ?? 'no version',
      expected: `${version}, as in package.json`,
      fix: 'let the release pull request write it, or write it by hand in every one of these files',
    }))
  return { version, mistakes }
}
