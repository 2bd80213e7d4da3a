// The last screen of `ralph init`: ten lines at most, and what is missing is among them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { NODE, openProject as open } from './init-project.ts'

/** What stands behind the last empty line. */
const lastScreen = (out: string) => out.trimEnd().split('\n\n').at(-1)

const LINT = { 'package.json': JSON.stringify({ name: 'x', scripts: { lint: 'echo fine' } }) }
const SECRET = 'in CI: the secret ANTHROPIC_API_KEY, if it is not set (see above)'

test("init's summary has what was found and made, what is missing, and the next commands", async () => {
  await using project = await open(NODE)
  const { out } = project.init('--yes')
  assert.equal(
    lastScreen(out),
    `Ralph is set up, but something is missing.
Written    6 files (JavaScript, agent claude)
Not tried  lint, test (\`ralph doctor\` runs them)
Missing    ${SECRET}
Next       git add --all && git commit -m "ci: Ralph"
           ralph doctor && ralph drill
           ralph plan my-feature -- "what you want" && ralph run my-feature`,
  )
  assert.match(
    lastScreen(project.init('--yes').out) ?? '',
    /^Written +nothing: every file is already there \(.*\)$/m,
  )
})

test('init started by npx prints next commands with npx', async () => {
  await using project = await open(NODE, { npm_command: 'exec' })
  const { out } = project.init('--yes')
  assert.match(
    out,
    /^ +npx @ralph\/action doctor && npx @ralph\/action drill\n +npx @ralph\/action plan my-feature -- "what you want" && npx @ralph\/action run my-feature$/m,
  )
})

test("init's summary has at most ten lines, the most important first", async () => {
  const files = { ...LINT, '.gitignore': '.ralph/\n', '.github/actionlint.yaml': 'paths: { "a.yml": {} }\n' }
  await using project = await open(files)
  const { out } = project.ralph('init', '--yes', '--no-try', '--agent', 'cursor')
  const lines = (lastScreen(out) ?? '').split('\n')
  assert.ok(lines.length <= 10, `${lines.length} lines`)
  const at = lines.findIndex((line) => line.startsWith('Missing'))
  assert.equal(lines[at], 'Missing    a gate that runs tests')
  assert.equal(lines[at + 1]?.trim(), 'in CI: the commit of the action (see the warning above)')
  assert.match(lines[at + 2] ?? '', /^ +and \d more: see the warnings above$/)
  for (const word of ['no gate runs tests', '<sha>', 'cannot install cursor'])
    assert.ok(out.includes(word), `the warnings say ${word} in full`)
})

test("init's summary without a gate says that first", async () => {
  await using project = await open({})
  const screen = lastScreen(project.init('--yes').out) ?? ''
  assert.match(screen, /^Written +\d files \(no code yet, agent claude\)\nGates +none\n/m)
  assert.match(screen, /^Missing +a gate: no command checks what the agent does$/m)
  assert.match(screen, /\n +ralph doctor\n/)
})

test('init writes the same defaults to both files, or those of an existing configuration', async () => {
  await using project = await open(NODE)
  project.init('--yes')
  const config = parse(await project.read('ralph.config.yml'))
  assert.deepEqual([config.weakenedTests, config.protectedPaths], ['judge', 'elsewhere'])
  const workflow = await project.read('.github/workflows/ralph.yml')
  assert.match(workflow, /^ {10}weakened-tests: judge # if the old tests /m)
  assert.match(workflow, /^ {10}protected-paths: elsewhere # /m)
  await using other = await open({ ...NODE, 'ralph.config.yml': 'protectedPaths: [src/billing/**]\n' })
  other.init('--yes')
  assert.match(await other.read('.github/workflows/ralph.yml'), /^ {10}protected-paths: src\/billing\/\*\*/m)
})
