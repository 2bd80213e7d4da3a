// Answers as data: what programs are given to hold their model to a schema, and what is read of the answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { CommandOptions } from '../../../src/agents/agent.ts'
import { expectationInJson, schemaText, verdictInJson } from '../../../src/agents/answer-schemas.ts'
import { agentNames, findAgent } from '../../../src/agents/registry.ts'
import { readSignals } from '../../../src/agents/signals.ts'
import { runs } from '../runs.ts'

const SHAPED: Record<string, [flag: string, value: 'text' | 'file']> = {
  claude: ['--json-schema', 'text'],
  codex: ['--output-schema', 'file'],
  qwen: ['--json-schema', 'text'],
}

test('three agents get the schema of an answer, by text or by file, unless agent-args has one of its own', () => {
  const schema = { text: '{"a": "schema"}', file: '/run/answer-schema.json' }
  const options: CommandOptions = { env: {}, extraArgs: [], isRoot: false, commandLine: 'x', schema }
  for (const name of agentNames) {
    const args = (more: Partial<CommandOptions>) => findAgent(name)?.args({ ...options, ...more }) ?? []
    const [flag, value] = SHAPED[name] ?? []
    if (flag === undefined || value === undefined) {
      assert.ok(!args({}).some((one) => Object.values(schema).includes(one)), name)
      continue
    }
    assert.equal(args({})[args({}).indexOf(flag) + 1], schema[value], name)
    assert.ok(!args({ schema: undefined }).includes(flag), name)
    const own = args({ extraArgs: [flag, 'mine'] })
    assert.deepEqual(
      own.filter((_, at) => own[at - 1] === flag),
      ['mine'],
      name,
    )
  }
})

const VERIFIED = {
  verdict: 'verified',
  stories: [],
  reason: '',
  evidence: [{ story: 'US-001', criterion: 2, shown: 'test adds two' }],
  counterexamples: [],
}
const RESET = {
  verdict: 'reset',
  stories: ['US-001', 'US-003'],
  reason: 'the total is wrong',
  evidence: [],
  counterexamples: [{ story: 'US-001', command: 'node --test wrong.test.mjs' }],
}

test('a verdict as data says what the same verdict says in words', () => {
  const ajv = new Ajv2020({ strict: false })
  const isVerdict = ajv.compile(JSON.parse(schemaText('verdict')))
  assert.ok(isVerdict(VERIFIED) && isVerdict(RESET))
  assert.deepEqual(
    verdictInJson(JSON.stringify(VERIFIED)),
    readSignals('<ralph>EVIDENCE:US-001#2 test adds two</ralph>\n<ralph>VERIFIED</ralph>').verdict,
  )
  assert.deepEqual(
    verdictInJson(JSON.stringify(RESET)),
    readSignals(
      [
        '<ralph>RESET:US-001,US-003</ralph>',
        '<ralph>REASON:the total is wrong</ralph>',
        '<ralph>COUNTEREXAMPLE:US-001 node --test wrong.test.mjs</ralph>',
      ].join('\n'),
    ).verdict,
  )
  assert.deepEqual(expectationInJson('{"expected": true, "reason": ""}'), { kind: 'expected' })
  assert.deepEqual(expectationInJson('{"expected": false, "reason": "it is not"}'), {
    kind: 'unexpected',
    reason: 'it is not',
  })
})

test('text, other JSON, and fields of another type give no verdict and throw nothing', () => {
  for (const answer of [
    '',
    'VERIFIED',
    '{}',
    '[]',
    '{"verdict": "yes"}',
    '{"verdict": ["verified"]}',
    'null',
  ])
    assert.equal(verdictInJson(answer), null, answer)
  for (const answer of ['EXPECTED', '{"expected": "true"}', '{"expected": null}'])
    assert.equal(expectationInJson(answer), null, answer)
  const strange = fc.record({
    verdict: fc.constantFrom('verified', 'reset'),
    stories: fc.jsonValue(),
    reason: fc.jsonValue(),
    evidence: fc.oneof(
      fc.jsonValue(),
      fc.array(fc.dictionary(fc.constantFrom('story', 'shown'), fc.jsonValue())),
    ),
    counterexamples: fc.oneof(
      fc.jsonValue(),
      fc.array(fc.record({ story: fc.jsonValue(), command: fc.string() })),
    ),
  })
  const property = fc.property(strange, (answer) => {
    const verdict = verdictInJson(JSON.stringify(answer))
    assert.equal(verdict?.kind, answer.verdict)
    if (verdict.kind === 'reset') assert.ok(verdict.ids.every((id) => typeof id === 'string'))
    else assert.ok((verdict.evidence ?? []).every(({ shown }) => shown.length <= 300))
  })
  fc.assert(property, runs(200))
})

test('a command that is too long is left out whole: a part of it would be another command', () => {
  const command = `rm -rf ${'x'.repeat(600)}`
  const answer = JSON.stringify({ ...RESET, counterexamples: [{ story: 'US-001', command }] })
  assert.deepEqual(verdictInJson(answer), { kind: 'reset', ids: RESET.stories, reason: RESET.reason })
})

test('qwen calls a verdict in plain text an error: the text counts, and any other error stays one', () => {
  const end = (message: string) => {
    const parser = findAgent('qwen')?.parser(() => 0)
    const assistant = {
      type: 'assistant',
      message: { id: '1', content: [{ type: 'text', text: 'All met.' }] },
    }
    const result = { type: 'result', subtype: 'error_during_execution', is_error: true, error: { message } }
    for (const event of [assistant, result]) parser?.line('stdout', JSON.stringify(event))
    return parser?.end({ kind: 'exit', code: 1 })
  }
  const plain = end(
    'Model produced plain text instead of calling the structured_output tool as required by --json-schema after 1 turn(s).',
  )
  assert.deepEqual([plain?.status, plain?.finalText], ['finished', 'All met.'])
  const other = end('[API Error: 500 broken]')
  assert.notEqual(other?.status, 'finished')
  assert.equal(other?.finalText, '')
})
