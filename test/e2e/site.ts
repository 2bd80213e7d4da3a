// A site for end-to-end tests: the stand-in for GitHub, a runner, a sample project, and the committed bundle as the action.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Prd } from '../../src/engine/model/feature.ts'
import type { State } from '../../src/engine/model/state.ts'
import { sharedFolder } from '../fakes/shared.ts'
import { type Check, type GitHub, type PullView, startGitHub } from '../standin/github.ts'
import { type Run, type Runner, startRunner } from '../standin/runner.ts'

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** The tests of the sample project, in one process for all of their files. */
export const RUN_TESTS = 'node --test --test-isolation=none test/*.test.mjs'
/** The same as another user, who may not reach this checkout, and then has the node of the machine, which may be an older one. */
export const RUN_TESTS_AS_OTHER_USER = 'node --test test/*.test.mjs'
const AGENT = join(ROOT, 'test', 'fakes', 'agent.mjs')

export type Turn = {
  files?: Record<string, string | null>
  shell?: string
  say?: string
  exit?: number
  hang?: boolean
}
/** Turns by attempt; a list in the place of one has a turn for each candidate. */
export type Script = Record<string, (Turn | Turn[])[]>

export type SiteOptions = {
  stories: readonly Record<string, unknown>[]
  script: Script
  /** Inputs of the action, over those of the sample. */
  inputs?: Record<string, string>
  files?: Record<string, string>
  /** The starter workflow of examples/ to run, beside ralph.yml: the inputs go into ralph.config.json. */
  separate?: boolean
  /** The same of examples/ralph-parallel.yml; with `separate`, of examples/ralph-separate-parallel.yml. */
  parallel?: boolean
  /** The last word on the workflow file. `inputs`: those of the action. */
  workflow?: (text: string, inputs: Record<string, string>) => string
  /** Where the workflow is, if not at .github/workflows/ralph.yml. */
  workflowPath?: string
  github?: Parameters<typeof startGitHub>[0]
  runner?: Partial<Parameters<typeof startRunner>[0]>
  /** Another runner of workflows than the stand-in's own. */
  startRunner?: (options: { github: GitHub }) => Promise<Runner>
}

/** A point in an agent's session at which it waits for the test. */
export type Gate = {
  /** For a turn's `shell`. */
  shell: string
  /** The run whose agent has come there. */
  reached: () => Promise<Run>
  release: () => Promise<void>
}

export type Site = AsyncDisposable & {
  github: GitHub
  runner: Runner
  /** What the agent was given, a line each session. */
  sessions(): Promise<{ mode: string; story: string; attempt: number; env: string[]; prompt: string }[]>
  setScript(script: Script): Promise<void>
  log(): string
  last(): Run
  /** Presses "Run workflow" and waits until nothing runs any more; gives the last run. */
  go(inputs?: Record<string, string>): Promise<Run>
  /** Comments on the pull request and waits until nothing runs any more; gives the comment's id. */
  say(login: string, body: string): Promise<number>
  hold(name: string): Gate
  /** What Ralph keeps about the feature. */
  state(): Promise<State>
  /** prd.json as the branch has it. */
  prd(): Promise<Prd>
  /** The one pull request; fails when there is none or another one. */
  pull(): Promise<PullView>
  /** Ralph's checks on the branch's head by name. */
  checks(): Promise<Map<string, Check>>
  /** Who reacted to a comment how: `login: content`. */
  reactions(comment: number): string[]
}

/** A story's module and test, as a good agent writes them. */
export function goodTurn(name: string, value: number): Turn {
  return { files: moduleFiles(name, value, value) }
}

/** The same with a wrong value: its own test fails. */
export function badTurn(name: string, value: number): Turn {
  return { files: moduleFiles(name, value + 1, value) }
}

function moduleFiles(name: string, value: number, expected: number): Record<string, string> {
  return {
    [`src/${name}.mjs`]: `export const ${name} = () => ${value}\n`,
    [`test/${name}.test.mjs`]: `import assert from 'node:assert/strict'\nimport test from 'node:test'\nimport { ${name} } from '../src/${name}.mjs'\n\ntest('${name}', () => {\n  assert.equal(${name}(), ${expected})\n})\n`,
  }
}

export function story(
  id: string,
  title: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id,
    title,
    description: `As a user, I want ${title}.`,
    acceptanceCriteria: [`${title} works`, 'a test shows it'],
    priority: 1,
    passes: false,
    ...more,
  }
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const folder = await sharedFolder('ralph-site-')
  const scriptFile = join(folder, 'script.json')
  const seenFile = join(folder, 'seen.jsonl')
  await writeFile(scriptFile, JSON.stringify(options.script))
  await writeFile(seenFile, '')
  // The agent may run as another user.
  await Promise.all([chmod(folder, 0o755), chmod(seenFile, 0o666)])
  const inputs: Record<string, string> = {
    agent: 'custom',
    'agent-command': `exec node "${AGENT}" "${scriptFile}" "${seenFile}"`,
    gates: `syntax: cat src/*.mjs | node --check --input-type=module -\ntest: ${RUN_TESTS}`,
    'iterations-per-job': '3',
    'max-iterations': '20',
    // What another user adds is shown by isolation.test.ts.
    isolation: options.separate === true ? 'separate-job' : 'same-user',
    ...options.inputs,
  }
  const { separate = false, parallel = false } = options
  const parts = [...(separate ? ['separate'] : []), ...(parallel ? ['parallel'] : [])]
  const example = parts.length === 0 ? null : `ralph-${parts.join('-')}.yml`
  const prd = {
    schemaVersion: 2,
    project: 'Sample',
    branchName: 'ralph/sample',
    description: 'A sample.',
    userStories: options.stories,
  }
  const github = await startGitHub({
    people: { alice: 'admin', bob: 'write', mallory: 'read' },
    ...options.github,
    files: {
      'README.md': '# sample\n',
      'package.json': '{"name":"sample","version":"1.0.0","type":"module","private":true}\n',
      '.gitignore': 'node_modules/\n',
      'src/base.mjs': 'export const base = () => 0\n',
      'test/base.test.mjs': "import test from 'node:test'\n\ntest('base', () => {})\n",
      ...(options.stories.length === 0
        ? {}
        : { '.ralph/2026-01-31-sample/prd.json': `${JSON.stringify(prd, null, 2)}\n` }),
      [options.workflowPath ?? '.github/workflows/ralph.yml']: (options.workflow ?? ((text) => text))(
        example === null ? await workflow(inputs) : await readFile(join(ROOT, 'examples', example), 'utf8'),
        inputs,
      ),
      ...(example === null ? {} : { 'ralph.config.json': configOf(inputs) }),
      ...options.files,
    },
  })
  const runner = await (options.startRunner ?? startRunner)({
    github,
    action: { match: /^ralph\/action@/, path: ROOT },
    ...options.runner,
  })
  const site: Site = {
    github,
    runner,
    async sessions() {
      const text = await readFile(seenFile, 'utf8')
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    },
    setScript: (script) => writeFile(scriptFile, JSON.stringify(script)),
    log: () => runner.runs.map((run) => runner.log(run)).join('\n'),
    last() {
      const run = runner.runs.at(-1)
      if (run === undefined) throw new Error('there was no run')
      return run
    },
    async go(given = {}) {
      await runner.dispatch('ralph.yml', { feature: 'sample', ...given }, { actor: 'alice' })
      await runner.settled()
      assert.deepEqual(github.violations, [], site.log())
      return site.last()
    },
    async say(login, body) {
      const { id } = github.comment(login, (await site.pull()).number, body)
      await runner.settled()
      assert.deepEqual(github.violations, [], site.log())
      return id
    },
    hold(name) {
      const pipe = join(folder, `${name}.pipe`)
      execFileSync('mkfifo', [pipe])
      return {
        shell: `echo "at ${name}"; cat "${pipe}" >/dev/null`,
        async reached() {
          const at = (run: Run) => `${runner.log(run)}\n`.includes(`at ${name}\n`)
          const run = await runner.when(
            (one) => at(one) || runner.runs.every((other) => other.status === 'completed'),
          )
          assert.ok(at(run), `the chain ended before it came to ${name}\n${runner.log(run)}`)
          return run
        },
        release: () => writeFile(pipe, ''),
      }
    },
    async state() {
      return JSON.parse((await github.read('refs/ralph/2026-01-31-sample', '.ralph-state/state.json')) ?? '')
    },
    async prd() {
      return JSON.parse((await github.read('ralph/sample', '.ralph/2026-01-31-sample/prd.json')) ?? '')
    },
    async pull() {
      const [pull, ...others] = await github.pulls()
      assert.ok(pull !== undefined && others.length === 0, `not one pull request\n${site.log()}`)
      return pull
    },
    async checks() {
      const head = (await github.head('ralph/sample')) ?? ''
      const all = github.checksOf(head)
      const byName = new Map(all.map((check) => [check.name, check]))
      assert.equal(byName.size, all.length, 'a check was posted twice')
      return byName
    },
    reactions: (comment) =>
      github
        .reactions(comment)
        .map((one) => `${one.login}: ${one.content}`)
        .sort(),
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await github[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return site
}

/** The starter workflow of examples/, with the sample's inputs in the place of its own. */
export async function workflow(inputs: Record<string, string>): Promise<string> {
  const text = await readFile(join(ROOT, 'examples', 'ralph.yml'), 'utf8')
  return withInputs(text, inputs)
}

/** A workflow with these inputs of Ralph's first step, instead of its own. */
export function withInputs(text: string, inputs: Record<string, string>): string {
  const lines = Object.entries(inputs).map(([name, value]) =>
    value.includes('\n')
      ? `          ${name}: |\n${value
          .split('\n')
          .map((line) => `            ${line}`)
          .join('\n')}`
      : `          ${name}: ${JSON.stringify(value)}`,
  )
  const own = /( {6}- uses: (?:https:\/\/github\.com\/)?ralph\/action@<sha> # v1\n {8}with:\n)(?: {10}.*\n)+/
  if (!own.test(text)) throw new Error('the workflow has another shape than this test expects')
  return text.replace(own, (_whole, head: string) => `${head}${lines.join('\n')}\n`)
}

const YAML = new Set(['gates', 'services', 'browser', 'steps'])

/** Inputs as the configuration file has them. */
function configOf(inputs: Record<string, string>): string {
  const entries = Object.entries(inputs).map(([name, value]) => [
    name.replace(/-([a-z])/g, (_whole, letter: string) => letter.toUpperCase()),
    YAML.has(name) ? parse(value) : value,
  ])
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`
}

/** What a run's action step gave: the action's outputs. */
export function outputsOf(run: Run): Record<string, string> {
  const step = run.jobs.flatMap((job) => job.steps).find((one) => one.outputs.outcome !== undefined)
  return step?.outputs ?? {}
}

/** The messages of a run's annotations, without that on the sample's own `isolation` (default.test.ts has it). */
export function annotationsOf(run: Run, level: 'error' | 'warning' | 'notice'): string[] {
  const steps = run.jobs.flatMap((job) => job.steps)
  return steps.flatMap((step) =>
    step.annotations
      .filter((one) => one.level === level && !one.message.startsWith('isolation: same-user'))
      .map((one) => one.message),
  )
}

/** Ralph's checks that nobody has ended, on whatever commit. */
export function openChecks(site: Site): string[] {
  const all = [...site.github.world.checks.values()]
  return all.filter((check) => !check.ofJob && check.status !== 'completed').map((check) => check.name)
}

/** A command for a session: it goes on when so many stories have begun theirs. `folder` is theirs alone. */
export function together(folder: string, count: number): string {
  return `touch "${folder}/$RALPH_STORY_ID"; until [ "$(ls "${folder}" | wc -l)" -ge ${count} ]; do sleep 0.02; done`
}

/** The jobs of each run, as `claim work work join`, without those that were skipped; `!` marks one that failed. */
export function jobsOfRuns(site: Site): string[] {
  return site.runner.runs.map((run) =>
    run.jobs
      .filter((job) => job.conclusion !== 'skipped')
      .map((job) => (job.conclusion === 'success' ? job.key : `${job.key}!`))
      .join(' '),
  )
}

/** Requests to the API (git left out) of every run, as `work: 25, comment: 6`. */
export function requestsByRun(site: Site): string {
  const counts = site.runner.runs.map(
    (run) => `${run.event === 'issue_comment' ? 'comment' : 'work'}: ${requestsOf(site, run)}`,
  )
  return counts.join(', ')
}

/** Requests of one run to the API. */
export function requestsOf(site: Site, { id }: { id: number }): number {
  return site.github.requests.filter(
    (request) => request.job?.runId === id && !request.path.includes('.git/') && request.kind !== 'git',
  ).length
}

/** Dispatches each further job of a chain a second time; gives the generations of those that were. */
export function dispatchTwice(site: Site): Set<number> {
  const twice = new Set<number>()
  site.github.world.onRun((run) => {
    const generation = Number(run.inputs.generation ?? '')
    if (run.event !== 'workflow_dispatch' || !(generation > 0) || twice.has(generation)) return
    twice.add(generation)
    void site.runner.dispatch('ralph.yml', { ...run.inputs }, { actor: 'alice' })
  })
  return twice
}
