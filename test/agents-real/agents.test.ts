// Real agent CLIs through Ralph's committed bundle, against a model on loopback. The CLIs are installed here, once for each
// machine, at pinned versions. One that cannot be installed is named loudly and skipped.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { emptyUsage, tokensOf as usedTokens } from '../../src/engine/model/usage.ts'
import { type Cli, clis } from './clis.ts'
import { type Bench, install, limitFor, type Outcome, openBench, type Scene, survivors } from './drive.ts'
import { type Script, type Turn, tokensOf } from './model.ts'

const STORY = { title: 'Say hello', description: 'hello.txt holds the word hello.' }
const WRITE: Turn = { say: 'I write it.', wishes: [{ write: 'hello.txt', content: 'hello\n' }] }
const LOOK: Turn = { say: 'I look at it.', wishes: [{ shell: 'cat hello.txt' }] }
const DONE: Turn = { say: 'Did it.\n\n<ralph>DONE</ralph>' }
const EVIDENCE = { story: 'US-001', criterion: 1, shown: 'hello.txt:1 says hello' }
/** In words, and as data for programs that hold their model to a schema. */
const VERIFIED: Turn = {
  say: 'All met.\n\n<ralph>EVIDENCE:US-001#1 hello.txt:1 says hello</ralph>\n<ralph>VERIFIED</ralph>',
  data: { verdict: 'verified', stories: [], reason: '', evidence: [EVIDENCE], counterexamples: [] },
}
const JUDGE = { when: '<ralph>VERIFIED</ralph>', turns: [VERIFIED] }

/** For those who say what they used, and not what it cost. US dollars for a million tokens. */
const PRICES = { any: { input: 2, output: 10, cached: 0.5 } }

function working(turns: readonly Turn[], more: Partial<Script> = {}): () => Omit<Script, 'cwd'> {
  return () => ({ sessions: [JUDGE, { when: '', turns }], ...more })
}

/** Every story is read from prd.json as the branch has it, every process looked for: nothing is left behind. */
async function play(
  scene: Scene,
  check: (bench: Bench, outcome: Outcome) => Promise<void> | void,
  interrupt?: RegExp | ((bench: Bench) => Promise<unknown>),
): Promise<void> {
  await using bench = await openBench(scene)
  const outcome = await bench.run(typeof interrupt === 'function' ? interrupt(bench) : interrupt)
  try {
    await check(bench, outcome)
    assert.deepEqual(survivors(bench.repo), [])
    assert.equal(await bench.git('status', '--porcelain'), '')
  } catch (error) {
    process.stdout.write(
      `${outcome.log}\n${bench.model.requests.map(({ text: _, ...seen }) => JSON.stringify(seen)).join('\n')}\n`,
    )
    throw error
  }
}

function chargedNothing({ said, prd, log }: Outcome): void {
  const [story] = prd.userStories
  assert.equal(said.iterations, 0)
  assert.equal(story?.retries, 0)
  assert.equal(story?.blocked, false)
  assert.equal(prd.run.iterations, 0)
  assert.match(log, /attempt given back, not counted/)
}

/** Tokens of these turns, all that was sent with the cached part in it, and what they cost by the CLI's own list. */
function tokensUsed(turns: readonly number[]) {
  const all = turns.map(tokensOf)
  const sum = (of: (tokens: ReturnType<typeof tokensOf>) => number) =>
    all.reduce((total, one) => total + of(one), 0)
  return {
    inputTokens: sum((one) => one.input + one.cached),
    outputTokens: sum((one) => one.output),
    cachedTokens: sum((one) => one.cached),
  }
}

async function implementsStory(cli: Cli): Promise<void> {
  await play(
    { cli, story: STORY, script: working([WRITE, LOOK, DONE]), config: { prices: PRICES } },
    async (bench, { exit, said, prd, log }) => {
      assert.equal(exit, 0)
      assert.equal(said.outcome, 'complete')
      assert.equal(said.storiesPassed, 1)
      assert.equal(said.iterations, 1)
      assert.equal(await bench.git('show', 'ralph/sample:hello.txt'), 'hello')
      const trailers = await bench.git(
        'log',
        '--format=%(trailers:key=Ralph-Story,valueonly,separator=%x2C)',
        'ralph/sample',
      )
      assert.equal(trailers.replaceAll('\n', ''), 'US-001')
      // droid has no tool to write a file with this model: it runs a command.
      assert.match(
        log,
        /^\[\w+\] \S+ (?:\S*hello\.txt|.* > '\S*hello\.txt')$/m,
        'the tool that wrote, and its file',
      )
      const { calls, inputTokens, outputTokens, cachedTokens, costUsd, agentSeconds, estimatedCostUsd } =
        prd.run.usage ?? emptyUsage()
      // qwen asks its model twice in a session without tools.
      const used = tokensUsed(bench.model.requests.flatMap(({ turn }) => (turn === null ? [] : [turn])))
      assert.ok(used.inputTokens >= tokensUsed([0, 1, 2, 0]).inputTokens)
      assert.deepEqual({ inputTokens, outputTokens, cachedTokens }, used)
      assert.equal(calls, 2, 'the session and the judge')
      assert.match(log, /^\[verify\] VERIFIED: (?!.*without citing evidence)/m)
      assert.ok(agentSeconds > 0)
      const { input, output, cached } = PRICES.any
      const price = (inputTokens - cachedTokens) * input + cachedTokens * cached + outputTokens * output
      assert.ok(costUsd > 0)
      if (cli.reports === 'cost') assert.equal(estimatedCostUsd, undefined)
      else assert.ok(Math.abs((estimatedCostUsd ?? 0) - price / 1e6) < 1e-9 && costUsd === estimatedCostUsd)
      assert.equal(/^Cost: .*estimated/m.test(log), cli.reports === 'tokens')
    },
  )
}

/** A plan's session looks, writes all the same, and proposes: the story is added, and what was written is gone. */
async function plansStories(cli: Cli): Promise<void> {
  const more = { id: 'US-001', title: 'Say goodbye', acceptanceCriteria: ['bye.txt says bye'] }
  const answer = `A plan.\n\n\`\`\`json\n${JSON.stringify({ stories: [more] })}\n\`\`\``
  const script = working([WRITE, LOOK, { say: answer }])
  await using bench = await openBench({ cli, story: STORY, script, sentence: 'people say goodbye, too' })
  const { exit, prd, log } = await bench.run()
  assert.equal(exit, 0, log)
  assert.deepEqual(
    prd.userStories.map(({ id, title, passes }) => [id, title, passes]),
    [
      ['US-001', STORY.title, false],
      ['US-002', more.title, false],
    ],
  )
  assert.match(bench.model.requests.find(({ turn }) => turn === 0)?.text ?? '', /people say goodbye, too/)
  assert.match(
    await bench.git('status', '--porcelain'),
    /^(?: ?M|\?\?) \.ralph\/\S*(?:\n\?\? \.ralph\/\S*)*$/,
  )
  assert.deepEqual(survivors(bench.repo), [])
}

async function hugePrompt(cli: Cli): Promise<void> {
  const parts = Array.from(
    { length: 4000 },
    (_, index) => `Part ${index} of a long story, with ümläuts and a 🎉.`,
  )
  // No text of a story is longer than 50,000 characters, so it takes five.
  const [description = '', ...acceptanceCriteria] = [0, 1, 2, 3, 4].map((fifth) =>
    parts.slice(fifth * 800, fifth * 800 + 800).join(' '),
  )
  const story = { title: 'Say hello', description, acceptanceCriteria }
  const flags = ['--no-final-verification']
  await play({ cli, story, script: working([WRITE, DONE]), flags }, (bench, { exit, said }) => {
    assert.ok(Buffer.byteLength(parts.join(' ')) > 200_000)
    assert.equal(exit, 0)
    assert.equal(said.outcome, 'complete')
    const asked = bench.model.requests.find((seen) => seen.turn === 0)?.text ?? ''
    for (const part of parts) assert.ok(asked.includes(part), part)
  })
}

/** A short wait is waited out: the test does not, and a cancelled wait is charged no more than the limit. */
async function tooManyRequests(cli: Cli): Promise<void> {
  const flags = cli.givesUp
    ? []
    : ['--iteration-timeout', limitFor(cli, cli.quietSeconds ?? (cli.slow ? 24 : 15))]
  const script = working([DONE], { failure: { status: 429 } })
  await play(
    { cli, story: STORY, script, flags },
    (bench, outcome) => {
      assert.equal(outcome.exit, 130)
      assert.equal(outcome.said.outcome, 'interrupted')
      chargedNothing(outcome)
      assert.ok(bench.model.requests.some((seen) => seen.status === 429))
    },
    /waiting until/,
  )
}

async function usageLimit(cli: Cli): Promise<void> {
  if (cli.limit === null) return
  const reset = Math.ceil(Date.now() / 60_000) * 60 + 7200
  const script = working([DONE], { failure: cli.limit(reset) })
  const flags = [
    '--no-wait',
    ...(cli.givesUp ? [] : ['--iteration-timeout', limitFor(cli, cli.quietSeconds ?? (cli.slow ? 24 : 15))]),
  ]
  await play(
    { cli, story: STORY, script, flags },
    (_bench, outcome) => {
      chargedNothing(outcome)
      assert.equal(outcome.exit, cli.tellsReset ? 4 : 130)
      assert.equal(outcome.said.outcome, cli.tellsReset ? 'paused' : 'interrupted')
      if (!cli.tellsReset) return
      const [, until = ''] = /waiting for the agent's limit until (\S+)/.exec(outcome.log) ?? []
      // codex says the minute, which is over then.
      const late = Date.parse(until) / 1000 - reset
      assert.ok(late === 0 || late === 60, until)
    },
    cli.tellsReset ? undefined : /waiting until/,
  )
}

/** gemini waits so long for a request, seconds; then it says that it tries again. */
const GEMINI_WAITS = 60

async function hang(cli: Cli): Promise<void> {
  const script = working([DONE], { failure: { hang: true } })
  const flags = [
    '--idle-timeout',
    limitFor(cli, cli.slow ? 20 : 10, GEMINI_WAITS - 10),
    '--max-attempts',
    '1',
  ]
  await play({ cli, story: STORY, script, flags }, (bench, { exit, said, prd, log }) => {
    assert.equal(exit, 1)
    assert.equal(said.outcome, 'stuck')
    assert.equal(said.iterations, 1, 'a session that says nothing is charged')
    assert.equal(prd.userStories[0]?.blocked, true)
    assert.match(log, /printed nothing for longer than idle-timeout/)
    assert.ok(bench.model.requests.some((seen) => seen.status === 0))
  })
}

/** In the middle of a tool's own shell, which may have left the agent's process group. */
async function cancel(cli: Cli): Promise<void> {
  const script = (url: string) => {
    const reached = `exec 3<>/dev/tcp/127.0.0.1/${new URL(url).port}; printf 'GET /reached HTTP/1.0\\r\\n\\r\\n' >&3`
    const shell = `bash -c "${reached.replaceAll('\\', '\\\\')}; exec tail -f /dev/null"`
    return working([{ wishes: [{ shell }] }, DONE])()
  }
  await play(
    { cli, story: STORY, script },
    (_bench, outcome) => {
      assert.equal(outcome.exit, 130)
      assert.equal(outcome.said.outcome, 'interrupted')
      chargedNothing(outcome)
    },
    (bench) => bench.model.when((seen) => seen.path === '/reached'),
  )
}

/** A HOME that cannot be written (as root, modes mean nothing: /proc): a session has its own. */
async function noHome(cli: Cli): Promise<void> {
  const HOME = '/proc'
  const flags = ['--no-final-verification']
  await play(
    { cli, story: STORY, script: working([WRITE, DONE]), flags, env: { HOME } },
    (_bench, outcome) => {
      assert.equal(outcome.exit, 0)
      assert.equal(outcome.said.outcome, 'complete')
    },
  )
}

/** Nine turns would be needed; the run has tokens for two. */
async function spends(cli: Cli): Promise<void> {
  if (!cli.countsAsItGoes || cli.slow) return // those that are quick show it
  const turns = Array.from({ length: 9 }, (_, index) => ({
    wishes: [{ shell: `echo ${index} >>steps.txt` }],
  }))
  const flags = ['--max-tokens', '2600']
  await play({ cli, story: STORY, script: working(turns), flags }, (bench, { exit, said, prd }) => {
    assert.equal(exit, 3)
    assert.equal(said.outcome, 'budget')
    assert.equal(said.iterations, 1)
    const asked = bench.model.requests.flatMap(({ turn }) => (turn === null ? [] : [turn]))
    assert.ok(asked.length < 5, `ended after ${asked.length} turns`)
    assert.ok(usedTokens(prd.run.usage ?? emptyUsage()) > 2600)
  })
}

const SCENES: readonly (readonly [string, (cli: Cli) => Promise<void>])[] = [
  ['implements a story with its own tools', implementsStory],
  ['proposes stories for a plan', plansStories],
  ['gets a prompt of 200 KB whole', hugePrompt],
  ['works without a HOME of its own', noHome],
  ['meets a 429: nothing is charged', tooManyRequests],
  ['meets a usage limit: nothing is charged, and Ralph waits as long as it says', usageLimit],
  ['spends all that the run has: ended in the middle', spends],
  ['hangs: ended by the idle time-out, charged', hang],
  ['is cancelled in the middle of a tool: nothing is left', cancel],
]

test('real agent CLIs', { concurrency: 3 }, async (t: TestContext) => {
  const wanted = process.env.RALPH_REAL_AGENTS?.split(',') ?? clis.map((cli) => cli.name)
  const driven = clis.filter((cli) => wanted.includes(cli.name))
  const refused = new Map(await Promise.all(driven.map(async (cli) => [cli, await install(cli)] as const)))
  for (const [cli, why] of refused) {
    if (why !== null)
      process.stdout.write(`SKIPPED: everything with ${cli.name}, which cannot be installed: ${why}\n`)
  }
  // Scene by scene, so that those that run side by side are different programs.
  const queue = SCENES.flatMap(([name, act]) => driven.map((cli) => ({ cli, name, act })))
  await Promise.all(
    queue.map(({ cli, name, act }) => {
      const why = refused.get(cli) ?? null
      if (why !== null) process.stdout.write(`SKIPPED: ${cli.name} ${name}: it cannot be installed: ${why}\n`)
      const title = `${cli.name} ${cli.version} ${name}`
      return t.test(title, { skip: why !== null && 'it cannot be installed' }, () => act(cli))
    }),
  )
})
