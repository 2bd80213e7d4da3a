// Which packages a change adds, by its lockfiles and manifests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Change } from '../../../../src/engine/model/change.ts'
import { describeDependency } from '../../../../src/engine/model/dependency.ts'
import { findNewDependencies } from '../../../../src/gates/dependencies/new-dependencies.ts'
import { resembles } from '../../../../src/gates/dependencies/well-known.ts'
import { hostileStrings } from '../../../fixtures/hostile-strings.ts'

type Files = Record<string, { before?: string; after?: string; bytes?: number }>

/** The findings on changed files. `bytes`: the size that git reports for the new version. */
async function found(files: Files) {
  const texts = new Map<string, string>()
  const sizes = new Map<string, number>()
  const changes = Object.entries(files).map(([path, { before, after, bytes }]): Change => {
    const [oldOid, newOid] = [`old ${path}`, `new ${path}`]
    if (before !== undefined) texts.set(oldOid, before)
    if (after !== undefined) texts.set(newOid, after)
    if (bytes !== undefined) sizes.set(newOid, bytes)
    const status = before === undefined ? 'A' : after === undefined && bytes === undefined ? 'D' : 'M'
    return { status, path, oldMode: '100644', newMode: '100644', oldOid, newOid }
  })
  return findNewDependencies(changes, {
    info: async (oid) => ({ size: sizes.get(oid) ?? texts.get(oid)?.length ?? 0 }),
    contents: async (oid) => {
      if ((sizes.get(oid) ?? 0) > 1e6) assert.fail('a file that is too large was read')
      return Buffer.from(texts.get(oid) ?? '')
    },
  })
}

async function lines(files: Files): Promise<string[]> {
  return (await found(files)).map(describeDependency)
}

const npmLock = (packages: Record<string, unknown>) =>
  JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } })

test('a package of package-lock.json has version, license, install script, and who asks for it', async () => {
  const got = await lines({
    'package.json': { before: '{}', after: '{"dependencies":{"sharp":"^0.33.0"}}' },
    'package-lock.json': {
      before: npmLock({ 'node_modules/ms': { version: '2.1.3', license: 'MIT' } }),
      after: npmLock({
        'node_modules/ms': { version: '2.2.0', license: 'MIT' },
        'node_modules/sharp': { version: '0.33.5', license: 'Apache-2.0', hasInstallScript: true },
        'node_modules/sharp/node_modules/color': { version: '4.2.3', license: 'MIT' },
        'packages/own': { version: '1.0.0' },
        'node_modules/own': { resolved: 'packages/own', link: true },
      }),
    },
  })
  assert.deepEqual(got, [
    'new package sharp 0.33.5 (npm, Apache-2.0, runs a script when it is installed)',
    'new package color 4.2.3 (npm, MIT, indirect)',
  ])
})

const OTHERS: Record<string, [before: string, after: string, expected: string[]]> = {
  'package-lock.json': [
    '{"lockfileVersion":1,"dependencies":{}}',
    '{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","dependencies":{"b":{"version":"2.0.0"}}}}}',
    ['a 1.0.0', 'b 2.0.0'],
  ],
  'yarn.lock': [
    '# yarn lockfile v1\n',
    '# yarn lockfile v1\n\n"@s/a@^1.0.0", "@s/a@^1.1.0":\n  version "1.2.0"\n  dependencies:\n    b "^2"\n\nb@^2:\n  version "2.0.1"\n\nc@npm:d@^3:\n  version "3.0.0"\n',
    ['@s/a 1.2.0', 'b 2.0.1', 'd 3.0.0'],
  ],
  'web/yarn.lock': [
    '__metadata:\n  version: 8\n',
    '__metadata:\n  version: 8\n\n"a@npm:^1.0.0":\n  version: 1.2.0\n  resolution: "a@npm:1.2.0"\n\n"own@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "own@workspace:."\n',
    ['a 1.2.0'],
  ],
  'pnpm-lock.yaml': [
    "lockfileVersion: '9.0'\npackages: {}\n",
    "lockfileVersion: '9.0'\npackages:\n  '@s/a@1.0.0':\n    resolution: {integrity: x}\n  b@2.0.0(react@18.0.0):\n    requiresBuild: true\n",
    ['b 2.0.0', '@s/a 1.0.0'],
  ],
  'old/pnpm-lock.yaml': [
    'lockfileVersion: 5.4\n',
    'lockfileVersion: 5.4\npackages:\n  /@s/a/1.0.0:\n    dev: true\n  /b/2.0.0_react@18.0.0:\n    dev: true\n',
    ['@s/a 1.0.0', 'b 2.0.0'],
  ],
  'bun.lock': [
    '{\n  "lockfileVersion": 1,\n  "packages": {}\n}',
    '{\n  "lockfileVersion": 1,\n  "packages": {\n    "a": ["a@1.0.0", "", {}, "sha512-x"],\n  }\n}',
    ['a 1.0.0'],
  ],
  'deno.lock': [
    '{"version":"4"}',
    '{"version":"4","jsr":{"@std/a@1.0.0":{}},"npm":{"b@2.0.0":{}}}',
    ['@std/a 1.0.0', 'b 2.0.0'],
  ],
  'requirements.txt': [
    'flask==3.0.0\n',
    '# more\nFlask==3.0.1\nPy_Thing[x]>=1 ; python_version < "4"\nother @ https://example.com/other.whl\n-r more.txt\n',
    ['other', 'py-thing'],
  ],
  'pyproject.toml': [
    '[project]\nname = "x"\n',
    '[project]\nname = "x"\ndependencies = ["aa>=1", "bb==2.0"]\n[dependency-groups]\ndev = ["cc"]\n[tool.poetry.dependencies]\npython = "^3"\ndd = "^4"\n',
    ['aa', 'bb 2.0', 'cc', 'dd ^4'],
  ],
  'uv.lock': [
    'version = 1\n',
    'version = 1\n[[package]]\nname = "aa"\nversion = "1.0"\nsource = { registry = "x" }\n[[package]]\nname = "own"\nversion = "0"\nsource = { editable = "." }\n',
    ['aa 1.0'],
  ],
  'poetry.lock': ['', '[[package]]\nname = "aa"\nversion = "1.0"\n', ['aa 1.0']],
  'Pipfile.lock': ['{}', '{"default":{"aa":{"version":"==1.0"}},"develop":{"bb":{}}}', ['aa 1.0', 'bb']],
  'Cargo.lock': [
    'version = 4\n',
    'version = 4\n[[package]]\nname = "own"\nversion = "0.1.0"\n[[package]]\nname = "aa"\nversion = "1.0.0"\nsource = "registry+x"\n',
    ['aa 1.0.0'],
  ],
  'Cargo.toml': [
    '[package]\nname = "x"\n',
    '[dependencies]\naa = "1"\nbb = { version = "2", features = [] }\nown = { path = "own" }\n[target.x.dependencies]\ncc = { git = "https://example.com/cc" }\n',
    ['cc', 'aa 1', 'bb 2'],
  ],
  'go.sum': ['', 'example.com/a v1.0.0 h1:x=\nexample.com/a v1.0.0/go.mod h1:x=\n', ['example.com/a 1.0.0']],
  'go.mod': [
    'module x\n',
    'module x\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v2.0.0 // indirect\n)\nrequire example.com/c v3.0.0\n',
    ['example.com/a 1.0.0', 'example.com/c 3.0.0'],
  ],
  'Gemfile.lock': ['', 'GEM\n  specs:\n    aa (1.0)\n      bb (>= 1)\n', ['aa 1.0']],
  'composer.lock': [
    '{}',
    '{"packages":[{"name":"v/a","version":"1.0","license":["MIT"]}],"packages-dev":[]}',
    ['v/a 1.0'],
  ],
  'composer.json': ['{}', '{"require":{"php":">=8","ext-x":"*","v/a":"^1"}}', ['v/a ^1']],
  'packages.lock.json': [
    '{"version":1}',
    '{"version":1,"dependencies":{"net8.0":{"A":{"type":"Direct","resolved":"1.0.0"},"Own":{"type":"Project"}}}}',
    ['A 1.0.0'],
  ],
  'gradle.lockfile': ['# x\n', '# x\norg.a:b:1.0=compileClasspath\nempty=\n', ['org.a:b 1.0']],
  'pubspec.lock': [
    'packages: {}\n',
    'packages:\n  aa:\n    dependency: "direct main"\n    source: hosted\n    version: "1.0.0"\n  flutter:\n    source: sdk\n    version: "0.0.0"\n',
    ['aa 1.0.0'],
  ],
}

for (const [path, [before, after, expected]] of Object.entries(OTHERS))
  test(`new packages of ${path}`, async () => {
    const got = await found({ [path]: { before, after } })
    const names = got.map((one) =>
      one.kind === 'package' ? [one.name, one.version].filter(Boolean).join(' ') : describeDependency(one),
    )
    assert.deepEqual(names, expected)
    assert.deepEqual(await found({ [path]: { before: after, after } }), [], 'nothing is new')
    assert.deepEqual(await found({ [path]: { before } }), [], 'the file was deleted')
  })

test('a file that cannot be read gives one sentence, and ends nothing', async () => {
  const conflict = '<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n'
  const got = await lines({
    'package-lock.json': { before: npmLock({}), bytes: 60 * 1024 * 1024 },
    'a/package-lock.json': { after: '{"lockfileVersion":9}' },
    'b/package-lock.json': { after: conflict },
    'c/package-lock.json': { before: conflict, after: npmLock({ 'node_modules/x': { version: '1.0.0' } }) },
    'd/yarn.lock': { after: 'no lockfile' },
    'bun.lockb': { after: '\0\0' },
    'e/Cargo.lock': { after: 'version = 9\n' },
    'f/pnpm-lock.yaml': { after: "lockfileVersion: '9.0'\npackages: {x@1.0.0: {}}\n" },
    'g/pnpm-lock.yaml': { after: "lockfileVersion: '9.0'\npackages:\n x@1.0.0: {}\n" },
    'h/pnpm-lock.yaml': { after: 'lockfileVersion: 12\n' },
  })
  assert.deepEqual(got, [
    'Ralph could not compare the packages in package-lock.json: it is 60 MB, but Ralph reads at most 16 MB',
    'Ralph could not compare the packages in a/package-lock.json: its format version 9 is unknown',
    'Ralph could not compare the packages in b/package-lock.json: it has the conflict markers of a merge',
    'Ralph could not compare the packages in c/package-lock.json: it has the conflict markers of a merge',
    'Ralph could not compare the packages in d/yarn.lock: it is not a lockfile of Yarn 1 or later',
    'Ralph could not compare the packages in bun.lockb: the file is binary (`bun install --save-text-lockfile` writes a text file)',
    'Ralph could not compare the packages in e/Cargo.lock: its format version 9 is unknown',
    'Ralph could not compare the packages in f/pnpm-lock.yaml: the file does not have the form that pnpm writes',
    'Ralph could not compare the packages in g/pnpm-lock.yaml: the file does not have the form that pnpm writes',
    'Ralph could not compare the packages in h/pnpm-lock.yaml: its format version 12 is unknown',
  ])
})

test('any text in any of these files is a list or a sentence', async () => {
  const paths = Object.keys(OTHERS)
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom(...hostileStrings.map((one) => one.text)),
    fc.constantFrom(...Object.values(OTHERS).flat(2)),
    fc.constantFrom(
      '{"lockfileVersion":3,"packages":{"node_modules/__proto__":{"version":1}}}',
      '{"lockfileVersion":3,"packages":[1]}',
      '{"dependencies":{"constructor":"1","__proto__":"2"}}',
      `${'['.repeat(20_000)}`,
      `{"lockfileVersion":1,"dependencies":${'{"a":{"dependencies":'.repeat(5000)}{}${'}}'.repeat(5000)}}`,
      'lockfileVersion: 9.0\na: &a [x, x]\nb: &b [*a, *a]\npackages: {c: *b}\n',
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), text, text, async (path, before, after) => {
      for (const finding of await found({ [path]: { before, after } })) {
        const line = describeDependency(finding)
        assert.doesNotMatch(line, /\p{Cc}/u)
        assert.ok(line.length < 700, line)
      }
    }),
    { numRuns: 500 },
  )
})

test('packages in both versions of a lockfile are never new, and all others are', async () => {
  const name = fc.stringMatching(/^[a-z]{4,12}$/)
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name), fc.uniqueArray(name), async (before, after) => {
      const lock = (names: string[]) =>
        npmLock(Object.fromEntries(names.map((one) => [`node_modules/${one}`, { version: '1.0.0' }])))
      const got = await found({ 'package-lock.json': { before: lock(before), after: lock(after) } })
      const names = got.map((one) => (one.kind === 'package' ? one.name : '')).sort()
      assert.deepEqual(names, after.filter((one) => !before.includes(one)).sort())
    }),
  )
})

test('of very many packages the suspicious ones are listed first, the rest is counted', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, at) => [`node_modules/zz-${at}`, { version: '1.0.0' }]),
  )
  const after = npmLock({ ...many, 'node_modules/lodahs': { version: '1.0.0' } })
  const start = performance.now()
  const got = await lines({ 'package-lock.json': { after } })
  assert.ok(performance.now() - start < 10_000)
  assert.equal(got[0], 'new package lodahs 1.0.0 (npm, indirect, its name resembles lodash)')
  assert.equal(got.at(-1), '99941 more new packages: the diff of the lockfile lists them')
  assert.equal(got.length, 61)
})

test('a name one edit away from a well-known one', () => {
  for (const [name, known] of [
    ['expres', 'express'],
    ['expresss', 'express'],
    ['exprets', 'express'],
    ['epxress', 'express'],
    ['crossenv', 'cross-env'],
    ['React', 'react'],
  ] as const)
    assert.equal(resembles(name, 'npm'), known)
  for (const name of ['express', 'preact', 'my-express', 'foo', '', 'x'.repeat(10_000)])
    assert.equal(resembles(name, 'npm'), null)
  assert.equal(resembles('reqests', 'PyPI'), 'requests')
})
