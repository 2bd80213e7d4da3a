// What is generated from the table of settings: action.yml agrees with it, the log shows no secret, the reference tables are whole.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import {
  describeGates,
  describeServices,
  describeSteps,
  flagTable,
  readSettings,
} from '../../../src/settings/read-settings.ts'
import { commandNames, settingRows } from '../../../src/settings/settings-table.ts'
import { onlyWrong, right, yml } from './reading.ts'

const { inputsTable, keysTable }: { inputsTable: () => string[]; keysTable: () => string[] } = await import(
  new URL('../../../scripts/docs.mjs', import.meta.url).href
)

const contract = `
command feature stories epic approve ask token publish-token base-branch branch-prefix branch-name working-directory config-file
agent agent-command agent-args agent-env agent-wrapper agent-version cache model fallback-agent instructions auth pipeline
gates gate-env services prepare baseline final-verification evidence protected-paths product weakened-tests needs-proof new-dependencies examples examples-key clean-room gates-parallel
iterations-per-job max-iterations max-jobs max-attempts max-corrections iteration-timeout idle-timeout job-deadline max-cost-usd
max-tokens max-agent-time calls-per-hour
publish pull-request report-as reviews reviews-from commands-from checks required-checks approvals update-base auto-merge agents-md write-back sign-commits signing-key redispatch workflow notify
isolation network network-allow max-parallel candidates
`
const contractInputs = contract.trim().split(/\s+/)
const contractOutputs =
  'outcome feature branch pull-request-number pull-request-url iterations stories-total stories-passed stories-blocked cost-usd next-run-id report-path attestation-path attestation-subject'.split(
    ' ',
  )
const action = parse(readFileSync(new URL('../../../action.yml', import.meta.url), 'utf8'))
const inputRows = settingRows.filter((row) => row.group !== 'file only')

test('action.yml has exactly the inputs of the table, in order', () => {
  assert.deepEqual(
    inputRows.map((row) => row.input),
    contractInputs,
  )
  assert.deepEqual(Object.keys(action.inputs), contractInputs)
})

test('action.yml: only token has a default, and inputs have no other fields', () => {
  for (const [name, input] of Object.entries<Record<string, unknown>>(action.inputs)) {
    const expected = name === 'token' ? ['description', 'default'] : ['description']
    assert.deepEqual(Object.keys(input), expected, name)
  }
  assert.equal(action.inputs.token.default, '${{ github.token }}')
})

test('action.yml: descriptions are one line, from the table', () => {
  for (const row of inputRows) {
    const standard = row.defaultText === '' || row.key === 'token' ? '' : ` Default: ${row.defaultText}.`
    assert.equal(action.inputs[row.input].description, row.description + standard)
  }
  for (const { description } of [
    ...Object.values<{ description: string }>(action.inputs),
    ...Object.values<{ description: string }>(action.outputs),
  ]) {
    assert.match(description, /^[A-Z][^\n]{8,}\.$/)
  }
})

test('the description of a choice has each of its words: explained, or listed at the end', () => {
  for (const { field, about, description, values } of settingRows) {
    const listed = ` (${values.join(', ')}).`
    const isExplained = values.every((value) => about.includes(`\`${value}\``))
    if (values.length > 0) assert.equal(description, `${about}${isExplained ? '.' : listed}`, field)
    assert.doesNotMatch(description, /\.\s*[.(]/, field)
  }
})

test('action.yml: outputs and runtime', () => {
  assert.deepEqual(Object.keys(action.outputs), contractOutputs)
  assert.deepEqual(action.runs, { using: 'node24', main: 'dist/action/main.js', post: 'dist/action/post.js' })
  assert.deepEqual(action.branding, { icon: 'repeat', color: 'purple' })
  assert.ok(action.name && action.description.length <= 125)
})

test('sign-commits takes booleans and words, in inputs, flags and file', () => {
  for (const [written, read] of [
    ['true', 'true'],
    ['false', 'false'],
    ['ssh', 'ssh'],
  ] as const)
    assert.equal(right(yml(`signCommits: ${written}`)).settings.signCommits, read)
  assert.equal(right({ inputs: { 'sign-commits': 'true' } }).settings.signCommits, 'true')
  assert.equal(onlyWrong({ inputs: { 'sign-commits': 'yes' } }).path, 'input sign-commits')
})

test('what this version refuses, or does not write, is not documented', () => {
  const main = readFileSync(new URL('../../../src/action/start-job.ts', import.meta.url), 'utf8')
  const looks = [...main.matchAll(/\['([a-z-]+)', async/g)].map(([, name]) => name)
  const understood: readonly string[] =
    `${/!\[(.*)\]\.includes\(command\)/.exec(main)?.[1]} ${looks} 'resume-lost'`.match(/[a-z-]+/g) ?? []
  assert.deepEqual([...commandNames].sort(), [...understood].sort())
  assert.match(action.outputs['report-path'].description, /Markdown/)
  assert.match(action.outputs.outcome.description, /Empty, like all outputs, if the job had nothing to do/)
})

test('every setting of the table is in Settings, and vice versa', () => {
  const fields = Object.keys(right({}).settings).filter((field) => !['surface', 'ungated'].includes(field))
  assert.deepEqual(fields.sort(), settingRows.map((row) => row.field).sort())
})

test('flags: every input has one, and --gate', () => {
  const flags = flagTable()
  const names = flags.map((row) => row.flag)
  assert.deepEqual(
    names.filter((name) => name !== '--gate'),
    contractInputs.map((input) => `--${input}`),
  )
  assert.equal(names.indexOf('--gate'), names.indexOf('--gates') + 1)
  const row = (flag: string) => flags.find((one) => one.flag === flag)
  assert.equal(row('--max-cost-usd')?.key, 'maxCostUsd')
  assert.equal(row('--iteration-timeout')?.key, 'iterationTimeout')
  assert.equal(row('--redispatch')?.takesValue, false)
  assert.deepEqual(
    [row('--gate')?.repeatable, row('--agent-args')?.repeatable, row('--agent')?.repeatable],
    [true, true, false],
  )
  for (const one of flags) assert.match(one.description, /^[^\n]+\.$/)
})

test('flags are read by each key of their table', () => {
  for (const { key } of flagTable()) {
    const result = readSettings({ env: {}, surface: 'cli', flags: { [key]: 'a=b' } })
    assert.ok(result.ok || result.mistakes.every((mistake) => !mistake.found.startsWith('unknown')), key)
  }
})

test('the list of settings has the relevant ones, and no secret', () => {
  const secret = 'hunter2'
  const { settings } = right({
    inputs: {
      token: secret,
      'publish-token': secret,
      'agent-command': `KEY=${secret} ./x`,
      'agent-args': `--key\n${secret}`,
      'agent-wrapper': `env K=${secret}`,
      instructions: secret,
      prepare: `T=${secret} npm ci`,
      gates: `test: { run: "T=${secret} npm test", timeout: 10m, when: [ui, api] }\nlint: { run: x, advisory: true }`,
      notify: `slack: https://x.example/${secret}`,
      feature: 'auth',
      model: 'sonnet',
      'gate-env': 'A\nB',
      'job-deadline': '90m',
    },
    env: { S: secret },
    ...yml(
      'services: [{ name: a, start: "${S}", ready: "http://x" }]\nsteps: [{ name: a, type: agent, config: { prompt: "${S}" } }, { name: b, type: command, config: { command: "${S}" } }]',
    ),
  })
  const listing = [describeGates(settings), describeServices(settings), describeSteps(settings)]
  assert.doesNotMatch(listing.join('\n'), /hunter2/)
  assert.equal(listing[0], 'test (10m, when ui or api), lint (advisory)')
  assert.match(listing[2] ?? '', /^default: a \(custom\) > b \(command\) > git-commit/)
})

test('the reference tables have a row for each setting, with four cells', () => {
  const inputs = settingRows.filter(({ group }) => group !== 'file only')
  for (const [lines, shown] of [
    [inputsTable(), inputs.map(({ input }) => input)],
    [keysTable(), settingRows.map(({ key }) => key)],
  ] as const) {
    // Behind its group, where the table has one: a default may be called the same.
    for (const name of shown)
      assert.equal(
        lines.filter((line) => /^\|(?: [^|`]+ \|)? `([^`]+)` \|/.exec(line)?.[1] === name).length,
        1,
        name,
      )
    for (const line of lines) assert.equal(line.split(/(?<!\\)\|/).length - 1, 5, line)
  }
})
