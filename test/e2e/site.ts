// A site for end-to-end tests: the stand-in for GitHub, a runner, a sample project, and the committed bundle as the action.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type GitHub, startGitHub } from '../standin/github.ts'
import { type Run, type Runner, startRunner } from '../standin/runner.ts'

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const AGENT = join(ROOT, 'test', 'fakes', 'agent.mjs')

export type Turn = {
  files?: Record<string, string | null>
  shell?: string
  say?: string
  exit?: number
  hang?: boolean
}
export type Script = Record<string, Turn[]>

export type SiteOptions = {
  stories: readonly Record<string, unknown>[]
  script: Script
  /** Inputs of the action, over those of the sample. */
  inputs?: Record<string, string>
  files?: Record<string, string>
  github?: Parameters<typeof startGitHub>[0]
  runner?: Partial<Parameters<typeof startRunner>[0]>
}

export type Site = AsyncDisposable & {
  github: GitHub
  runner: Runner
  /** What the agent was given, a line each session. */
  sessions(): Promise<{ mode: string; story: string; attempt: number; env: string[]; prompt: string }[]>
  setScript(script: Script): Promise<void>
  log(): string
  last(): Run
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
  const folder = await mkdtemp(join(tmpdir(), 'ralph-site-'))
  const scriptFile = join(folder, 'script.json')
  const seenFile = join(folder, 'seen.jsonl')
  await writeFile(scriptFile, JSON.stringify(options.script))
  await writeFile(seenFile, '')
  const inputs: Record<string, string> = {
    agent: 'custom',
    'agent-command': `exec node "${AGENT}" "${scriptFile}" "${seenFile}"`,
    gates: 'syntax: for f in src/*.mjs; do node --check "$f" || exit 1; done\ntest: node --test test/',
    'iterations-per-job': '3',
    'max-iterations': '20',
    ...options.inputs,
  }
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
      '.ralph/2026-01-31-sample/prd.json': `${JSON.stringify(prd, null, 2)}\n`,
      '.github/workflows/ralph.yml': await workflow(inputs),
      ...options.files,
    },
  })
  const runner = await startRunner({
    github,
    action: { match: /^ralph\/action@/, path: ROOT },
    ...options.runner,
  })
  return {
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
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await github[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The starter workflow of examples/, with the sample's inputs in the place of its own. */
export async function workflow(inputs: Record<string, string>): Promise<string> {
  const text = await readFile(join(ROOT, 'examples', 'ralph.yml'), 'utf8')
  const lines = Object.entries(inputs).map(([name, value]) =>
    value.includes('\n')
      ? `          ${name}: |\n${value
          .split('\n')
          .map((line) => `            ${line}`)
          .join('\n')}`
      : `          ${name}: ${JSON.stringify(value)}`,
  )
  const own = /( {6}- uses: ralph\/action@v1\n {8}with:\n)(?: {10}.*\n)+/
  if (!own.test(text)) throw new Error('examples/ralph.yml has another shape than this test expects')
  return text.replace(own, (_whole, head: string) => `${head}${lines.join('\n')}\n`)
}

/** What a run's action step gave: the action's outputs. */
export function outputsOf(run: Run): Record<string, string> {
  const step = run.jobs.flatMap((job) => job.steps).find((one) => one.outputs.outcome !== undefined)
  return step?.outputs ?? {}
}
