// The pins of the action and of the package: found wherever YAML lets them stand, and moved without a byte beside them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionPins, packagePins } from '../../../../src/setup/init/release-pins.ts'

const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)]
const target = { tag: 'v1.2.0', commit: NEW }

/** A workflow whose steps are these lines. */
const workflow = (...steps: string[]) => `# a comment\njobs:\n  work:\n    steps:\n${steps.join('\n')}\n`

function moved(text: string): string {
  const found = actionPins(text)
  assert.ok(found !== null)
  return found.movedTo(target)
}

test('upgrade keeps each form of a pin', () => {
  for (const [before, after] of [
    [`      - uses: ralph/action@${OLD} # v1.0.0`, `      - uses: ralph/action@${NEW} # v1.2.0`],
    [`      - uses: ralph/action@${OLD} # v1`, `      - uses: ralph/action@${NEW} # v1.2.0`],
    [`      - uses: ralph/action@${OLD}`, `      - uses: ralph/action@${NEW} # v1.2.0`],
    [
      `      - uses: ralph/action@${OLD}  #v1.0.0 by ops`,
      `      - uses: ralph/action@${NEW}  #v1.2.0 by ops`,
    ],
    [`      - uses: ralph/action@${OLD} # keep`, `      - uses: ralph/action@${NEW} # keep`],
    [`      - uses: 'ralph/action@${OLD}' # v1.0.0`, `      - uses: 'ralph/action@${NEW}' # v1.2.0`],
    [`      - uses: "ralph/action@v1.0.0"`, `      - uses: "ralph/action@v1.2.0"`],
    ['      - uses: ralph/action@v1 # the newest', '      - uses: ralph/action@v1 # the newest'],
    ['      - uses: ralph/action@v0', '      - uses: ralph/action@v1'],
    ['      - uses: ralph/action@<sha> # v1', `      - uses: ralph/action@${NEW} # v1.2.0`],
    [
      `      - { uses: ralph/action@${OLD}, with: { a: b } } # v1.0.0`,
      `      - { uses: ralph/action@${NEW}, with: { a: b } } # v1.0.0`,
    ],
    [
      `      - uses: https://github.com/ralph/action@${OLD} # v1.0.0`,
      `      - uses: https://github.com/ralph/action@${NEW} # v1.2.0`,
    ],
    ['      - uses: ralph/action@main', '      - uses: ralph/action@main'],
    ['      - uses: ralph/action@abcdef1', '      - uses: ralph/action@abcdef1'],
    [`      - uses: other/ralph/action@${OLD}`, `      - uses: other/ralph/action@${OLD}`],
    [`      - uses: ralph/action-more@${OLD}`, `      - uses: ralph/action-more@${OLD}`],
  ] as const) {
    assert.equal(moved(workflow(before)), workflow(after))
  }
})

test('upgrade leaves what only looks like a pin, line ends and unusual text', () => {
  const text = [
    '# uses: ralph/action@v1.0.0',
    'on: push\r',
    'env: { "uses":   other }',
    'jobs:',
    '  work:',
    '    steps:',
    '      - run: |',
    '          echo "uses: ralph/action@v1.0.0"',
    '          uses: ralph/action@v1.0.0',
    `      -   uses:   ralph/action@${OLD}   # v1.0.0\r`,
    '          with:   {  a:   b  }',
    '      - uses: ralph/action@v1.1.0\t',
    '',
    '',
  ].join('\n')
  const expected = text
    .replace(`${OLD}   # v1.0.0`, `${NEW}   # v1.2.0`)
    .replace('ralph/action@v1.1.0\t', 'ralph/action@v1.2.0\t')
  assert.equal(moved(text), expected)
  assert.deepEqual(actionPins(text)?.pins, [
    { line: 10, ref: OLD, tag: 'v1.0.0', kind: 'commit' },
    { line: 12, ref: 'v1.1.0', tag: 'v1.1.0', kind: 'tag' },
  ])
  assert.equal(actionPins('jobs: [unclosed'), null)
  assert.equal(actionPins('just a text'), null)
})

test('upgrade keeps the sign and place of a version in package.json, and leaves what is no version', () => {
  const before =
    '{\r\n\t"devDependencies": {"@ralph/action":  "^1.0.0", "a": "1"},\n "overrides":{"@ralph/action":"1.0.0"} }'
  const after =
    '{\r\n\t"devDependencies": {"@ralph/action":  "^1.2.0", "a": "1"},\n "overrides":{"@ralph/action":"1.2.0"} }'
  assert.equal(packagePins(before)?.movedTo(target), after)
  for (const spec of ['latest', 'file:../ralph.tgz', 'workspace:*', '>=1', '1.x']) {
    const text = JSON.stringify({ devDependencies: { '@ralph/action': spec } })
    assert.equal(packagePins(text)?.movedTo(target), text)
    assert.deepEqual(packagePins(text)?.pins, [{ line: 1, ref: spec, tag: null, kind: 'none' }])
  }
})
