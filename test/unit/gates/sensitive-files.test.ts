// Files that act elsewhere than in the code: told by default, refused by one word.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldPath, type GuardedChange, type GuardRules, judgeChanges } from '../../../src/gates/guard.ts'
import { formatSensitiveFiles, sensitiveKindOf } from '../../../src/gates/sensitive-files.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'

const ACTS: [RegExp, string[]][] = [
  [
    /what gates run/,
    ['.npmrc', 'web/.NPMRC', '.npmrc.', '.yarnrc.yml', '.yarnrc', '.pnp.cjs', '.pnp.loader.mjs'],
  ],
  [/what gates run/, ['.pnpmfile.cjs', '.yarn/plugins/x.cjs', '.cargo/config.toml', 'bunfig.toml']],
  [/versions of tools/, ['.nvmrc', '.node-version', '.tool-versions', '.python-version', 'rust-toolchain']],
  [/versions of tools/, ['rust-toolchain.toml', 'mise.toml', '.mise.local.toml', '.config/mise.toml']],
  [/shows a diff to reviewers/, ['.gitattributes', 'src/.gitattributes']],
  [/other services/, ['.circleci/config.yml', '.circleci', '.gitlab-ci.yml', 'Jenkinsfile', 'netlify.toml']],
  [/other services/, ['azure-pipelines.yml', '.travis.yml', 'bitbucket-pipelines.yml', 'appveyor.yml']],
  [/other services/, ['.buildkite/pipeline.yml', '.drone.yml', '.woodpecker/a.yml', '.woodpecker.yml']],
  [/other services/, ['vercel.json', 'fly.toml', 'render.yaml', 'Procfile', 'app.yaml']],
  [/open the folder/, ['.devcontainer/devcontainer.json', '.devcontainer.json', '.vscode/tasks.json']],
  [/open the folder/, ['.vscode/settings.json', '.idea/workspace.xml', 'a/.envrc', '.gitpod.yml']],
  [
    /bots/,
    ['renovate.json', 'renovate.json5', '.github/dependabot.yml', '.github/renovate.json', '.mergify.yml'],
  ],
  [/hooks of git/, ['.husky/pre-commit', 'lefthook.yml', '.lefthook.toml', '.pre-commit-config.yaml']],
  [/what gates run/, ['.Rprofile', 'analysis/.Renviron']],
  [
    /open the folder/,
    ['.irbrc', '.pryrc', '.pdbrc', '.pdbrc.py', '.ghci', '.gdbinit', '.lldbinit', '.iex.exs'],
  ],
  [/open the folder/, ['Vagrantfile', 'box/vagrantfile']],
  [/large files/, ['.lfsconfig']],
  [/workflows/, ['action.yml', 'tools/lint/action.yaml', '.github/scripts/release.sh', '.github/scripts']],
  [/other services/, ['serverless.yml', 'api/serverless.yaml', 'serverless.ts', 'cdk.json']],
  [/containers that/, ['Dockerfile', 'api/Dockerfile.dev', 'docker-compose.yml', 'compose.yaml']],
]

test('each sensitive file is recognised in every spelling of its name', () => {
  for (const [expected, paths] of ACTS)
    for (const path of paths)
      assert.match(sensitiveKindOf(foldPath(path))?.actsOn ?? 'nothing', expected, path)
})

test('ordinary files of a project are not sensitive', () => {
  const own = ['src/app.ts', 'package.json', 'README.md', 'src/jenkins.ts', 'docs/npmrc.md', 'lib/app.yaml']
  const close = ['.gitignore', '.github/workflows/ci.yml', 'test/fixtures/travis.txt', 'idea/x', 'elsewhere']
  const named = ['src/action.ts', 'docs/serverless.md', 'scripts/release.sh', 'lib/ghci.hs', 'src/cdk.ts']
  for (const path of [...own, ...close, ...named]) assert.equal(sensitiveKindOf(foldPath(path)), null, path)
})

const rules = (protectedPaths: string[]): GuardRules => ({
  ...{ protectedPaths, configFile: null, agentSettings: [] },
  secrets: createRedactor([]),
})
const changed = (path: string, status: GuardedChange['status'] = 'M'): GuardedChange => ({
  ...{ path, status, oldMode: '100644', newMode: status === 'D' ? '000000' : '100644', size: 1 },
  content: Buffer.from('x'),
})

test('`protected-paths: elsewhere` refuses sensitive files, deleted ones too, but not container files; other patterns still apply', () => {
  const paths = ACTS.flatMap(([, some]) => some).filter((path) => !path.endsWith('.'))
  const containers = new Set(ACTS.at(-1)?.[1])
  for (const path of paths) {
    const both = [changed(path), changed(path, 'D')]
    const refused = judgeChanges(both, rules(['elsewhere', 'keys/'])).map(({ reason }) =>
      reason.includes('`protected-paths: elsewhere`'),
    )
    assert.deepEqual(refused, containers.has(path) ? [] : [true, true], path)
    assert.deepEqual(judgeChanges(both, rules([])), [], path)
  }
  const [key] = judgeChanges([changed('keys/a'), changed('elsewhere')], rules(['elsewhere', 'keys/']))
  assert.equal(key?.path, 'keys/a')
  assert.equal(judgeChanges([changed('elsewhere')], rules(['elsewhere'])).length, 0)
  assert.equal(judgeChanges([changed('elsewhere')], rules(['/elsewhere'])).length, 1)
  assert.match(judgeChanges([changed('.envrc')], rules(['elsewhere']))[0]?.reason ?? '', /machines of people/)
})

test('any number of sensitive files gives one short line for each kind', () => {
  const files = Array.from({ length: 41 }, (_, at) => ({
    path: `.circleci/${at}${'x'.repeat(500)}`,
    actsOn: 'CI',
  }))
  const remarks = formatSensitiveFiles([...files, { path: '.npmrc', actsOn: 'gates' }])
  assert.equal(remarks.length, 2)
  assert.match(remarks[0] ?? '', /^affects CI: \.circleci\/0x+, .* and 36 more$|36 more$/)
  assert.ok((remarks[0] ?? '').length < 700)
  assert.equal(remarks[1], 'affects gates: .npmrc')
})
