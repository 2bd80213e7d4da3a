// What the stand-in's runner reads out of a step's output and files, and how it evaluates expressions.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Commands, Masks } from '../../standin/runner/commands.ts'
import { Groups } from '../../standin/runner/concurrency.ts'
import { condition, interpolate, type Scope } from '../../standin/runner/expressions.ts'
import { parseKeyValues } from '../../standin/runner/file-commands.ts'
import { dispatchInputs, readWorkflow, typedInputs } from '../../standin/runner/workflow.ts'

function listen(lines: string[]): { said: string[]; log: string[] } {
  const said: string[] = []
  const log: string[] = []
  const commands = new Commands({
    annotate: ({ level, message, properties }) =>
      said.push(`${level} ${JSON.stringify(properties)} ${message}`),
    mask: (value) => said.push(`mask ${value}`),
    output: (name, value) => said.push(`output ${name}=${value}`),
    state: (name, value) => said.push(`state ${name}=${value}`),
    log: (line) => log.push(line),
    fail: () => said.push('fail'),
  })
  for (const line of lines) commands.line(line)
  return { said, log }
}

describe('workflow commands in the stand-in runner', () => {
  it('are read at the start of a line, and in the old form anywhere', () => {
    const { said, log } = listen([
      '  ::error file=a.js,line=3,title=A%2C b::no%0Away',
      'text ::error::not a command',
      'text ##[warning file=b.js;line=1]look',
      '::NOTICE::yes',
      '::unknown::text',
      '::add-mask::geheim',
      '::set-output name=a::1',
      '::save-state name=b::2',
    ])
    assert.deepEqual(said, [
      'error {"file":"a.js","title":"A, b","line":"3"} no\nway',
      'warning {"file":"b.js","line":"1"} look',
      'notice {} yes',
      'mask geheim',
      'output a=1',
      'state b=2',
    ])
    assert.deepEqual(
      log.filter((line) => line.includes('::')),
      ['text ::error::not a command', '::unknown::text'],
    )
  })

  it('fail the step when they are forbidden or wrong', () => {
    assert.equal(listen(['::set-env name=PATH::/evil']).said.at(-1), 'fail')
    assert.equal(listen(['##[add-path]/evil']).said.at(-1), 'fail')
    assert.equal(listen(['::stop-commands::error']).said.at(-1), 'fail')
    assert.equal(listen(['::set-output::x']).said.at(-1), 'fail')
  })

  it('are silenced by stop-commands until its token comes', () => {
    const { said } = listen([
      '::stop-commands::tok3n-long',
      '::error::a',
      '##[error]b',
      '::TOK3N-LONG::',
      '::error::c',
    ])
    assert.deepEqual(said, ['mask tok3n-long', 'error {} c'])
  })

  it('are limited to ten annotations of a kind, each cut, without columns over several lines', () => {
    const { said } = listen([
      ...Array(12).fill('::error::x'),
      '::warning line=1,endLine=2,col=3::y',
      `::notice::${'z'.repeat(5000)}`,
    ])
    assert.equal(said.filter((one) => one.startsWith('error')).length, 10)
    assert.equal(said.at(-2), 'warning {"line":"1","endLine":"2"} y')
    assert.equal(said.at(-1)?.length, 'notice {} '.length + 4096)
  })
})

describe('file commands in the stand-in runner', () => {
  it('take name=value and delimited values', () => {
    assert.deepEqual(parseKeyValues('a=1=2\n\nb<<E\nx\n=y\nE\nc=\n'), [
      ['a', '1=2'],
      ['b', 'x\n=y'],
      ['c', ''],
    ])
    assert.deepEqual(parseKeyValues('a<<E\nE\n'), [['a', '']])
    assert.deepEqual(parseKeyValues('a=<<b'), [['a', '<<b']])
  })
  it('with anything else are refused', () => {
    assert.throws(() => parseKeyValues('nothing\n'), /Invalid format 'nothing'/)
    assert.throws(() => parseKeyValues('=x\n'), /Name must not be empty/)
    assert.throws(() => parseKeyValues('a<<\nx\n'), /delimiter must not be empty/)
    assert.throws(() => parseKeyValues('a<<E\nx\n'), /Matching delimiter not found 'E'/)
    assert.throws(() => parseKeyValues('a<<E\nx\nE'), /Matching delimiter not found 'E'/)
  })
})

describe('masks in the stand-in runner', () => {
  it('hide a secret, its lines and its usual encodings', () => {
    const masks = new Masks()
    masks.add('top secret\nsecond line')
    const encoded = Buffer.from('user:top secret\nsecond line').toString('base64')
    for (const text of ['top secret', 'second line', encodeURIComponent('top secret'), encoded]) {
      assert.ok(masks.has(text), text)
      assert.ok(masks.apply(`<${text}>`).includes('***'), text)
    }
    assert.equal(masks.apply('nothing here'), 'nothing here')
  })
})

describe('expressions in the stand-in runner', () => {
  const scope = (standing: Partial<Scope['standing']> = {}): Scope => ({
    contexts: {
      github: { event: { comment: { body: '/ralph run' }, issue: {} } },
      inputs: { n: 3, on: true },
      needs: { a: { result: 'failure' } },
    },
    standing: { success: true, failure: false, cancelled: false, ...standing },
    workspace: null,
  })
  it('keep their type as a whole value, and are text inside text', () => {
    assert.equal(interpolate(`\${{ inputs.n }}`, scope()), 3)
    assert.equal(interpolate(`n=\${{ inputs.n }} \${{ inputs.on }}`, scope()), 'n=3 true')
    assert.deepEqual(interpolate({ a: [`\${{ fromJSON('[1]') }}`] }, scope()), { a: [[1]] })
    assert.equal(interpolate(`\${{ format('{0}}}', 'x') }}`, scope()), 'x}')
  })
  it('without a status function hold only while nothing failed', () => {
    assert.equal(condition(undefined, scope()), true)
    assert.equal(condition(undefined, scope({ success: false, failure: true })), false)
    assert.equal(condition("startsWith(github.event.comment.body, '/ralph')", scope()), true)
    assert.equal(
      condition("startsWith(github.event.comment.body, '/ralph')", scope({ success: false })),
      false,
    )
    assert.equal(condition("always() && needs.a.result == 'failure'", scope({ success: false })), true)
    assert.equal(condition(`\${{ !cancelled() }}`, scope({ cancelled: true })), false)
    assert.equal(condition('cancelled()', scope({ cancelled: true })), true)
    assert.equal(condition('github.event.issue.pull_request', scope()), false)
    assert.throws(() => condition('nonsense(', scope()))
  })
})

describe('workflow files in the stand-in runner', () => {
  const jobs = 'jobs: { a: { runs-on: ubuntu-latest, steps: [{ run: "true" }] } }'
  it('are refused with every mistake and its line', async () => {
    await assert.rejects(
      readWorkflow('x.yml', 'on: push\njobs:\n  a:\n    runs-on: x\n    stepz: []\n'),
      /Line: 5.*stepz/,
    )
    const both = 'concurrency: { group: a, queue: max, cancel-in-progress: true }'
    await assert.rejects(readWorkflow('x.yml', `on: push\n${both}\n${jobs}`))
    const inputs = Array.from({ length: 26 }, (_, at) => `i${at}: {}`).join(', ')
    await assert.rejects(
      readWorkflow('x.yml', `on: { workflow_dispatch: { inputs: { ${inputs} } } }\n${jobs}`),
      /up to 25 inputs/,
    )
  })
  it('give inputs with their defaults, as text and typed', async () => {
    const on =
      'on: { workflow_dispatch: { inputs: { n: { type: number, default: 5 }, dry: { type: boolean }, name: {} } } }'
    const workflow = await readWorkflow('x.yml', `${on}\n${jobs}`)
    const inputs = dispatchInputs(workflow, { name: 'auth', dry: true })
    assert.deepEqual(inputs, { n: '5', dry: 'true', name: 'auth' })
    assert.deepEqual(typedInputs(workflow, inputs), { n: 5, dry: true, name: 'auth' })
  })
})

describe('concurrency groups in the stand-in runner', () => {
  const single = { group: 'A', cancelInProgress: false, queue: 'single' } as const
  it('keep one pending place: a newer one cancels the older', async () => {
    const groups = new Groups()
    const [first, second, third] = [
      groups.enter(single, () => {}),
      groups.enter({ ...single, group: 'a' }, () => {}),
      groups.enter(single, () => {}),
    ]
    assert.deepEqual([await first.turn, await second.turn, third.isPending()], ['run', 'cancelled', true])
    first.leave()
    assert.equal(await third.turn, 'run')
  })
  it('queue up to a hundred with queue: max', async () => {
    const groups = new Groups()
    const policy = { ...single, queue: 'max' } as const
    const places = Array.from({ length: 102 }, () => groups.enter(policy, () => {}))
    assert.equal(await places[101]?.turn, 'cancelled')
    places[50]?.leave()
    for (const [at, place] of places.entries()) {
      if (at === 50 || at === 101) continue
      assert.equal(await place.turn, 'run')
      place.leave()
    }
  })
  it('end the holder with cancel-in-progress', async () => {
    const groups = new Groups()
    const ended: string[] = []
    const holder = groups.enter(single, () => ended.push('holder'))
    const next = groups.enter({ ...single, cancelInProgress: true }, () => {})
    assert.deepEqual(ended, ['holder'])
    holder.leave()
    assert.equal(await next.turn, 'run')
  })
})
