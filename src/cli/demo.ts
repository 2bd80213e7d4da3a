// `ralph demo`: a complete run on a sample project in a temporary folder, with a scripted agent that really edits files.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { Evidence } from '../engine/model/feature.ts'
import { requireGit } from '../git/git-version.ts'
import { terminalText } from '../report/escape.ts'
import { tellingLine } from '../system/excerpt.ts'
import { shellWord } from '../system/shell-word.ts'
import type { CommandResult, Context } from './command-context.ts'
import { FEATURE, PROJECT } from './demo-project.ts'
import { run } from './run.ts'
import { writeFiles } from './write-files.ts'

/** Runs the demo; the folder is kept and named at the end. No network, no key. */
export async function demo(context: Context): Promise<CommandResult> {
  await requireGit(context.env)
  const directory = await mkdtemp(join(tmpdir(), 'ralph-demo-'))
  await writeFiles(directory, PROJECT)
  const git = (...args: string[]) =>
    promisify(execFile)('git', args, { cwd: directory, env: { ...context.env, ...IDENTITY } })
  await git('init', '-q', '-b', 'main')
  await git('add', '-A')
  await git('commit', '-q', '-m', 'feat: a converter that knows one unit')
  const folder = `.ralph/2026-01-31-${FEATURE}`
  context.print('No model, no money: a scripted agent that makes one mistake.')
  context.print(`Project: ${directory}\nStories: ${folder}/prd.json\nGates:   node --check, node --test\n`)
  // The agent is this program again, as its own process: only its files and its exit code count.
  const self = `"${process.execPath}" "${process.argv[1] ?? ''}" demo-agent`
  const flags = {
    ...context.flags,
    agent: 'custom',
    agentCommand: self,
    gate: ['syntax=node --check src/convert.mjs', 'test=node --test'],
    maxAttempts: '3',
  }
  const env = { ...context.env, ...IDENTITY }
  const answer = await run({ ...context, flags, feature: FEATURE, directory, env })
  const failure = await failureOf(directory)
  if (failure !== null) {
    context.print('\nThe agent said DONE. The gate disagrees.')
    context.print(`  [test] FAILED: ${terminalText(failure, 70)}`)
    context.print('The next session got this output and fixed it. Only then was US-002 committed.')
  }
  const proved = await provedCriteria(join(directory, folder, 'prd.json'))
  if (proved > 0)
    context.print(`\nCriteria proved: ${proved}. Each has a test that fails without the change.`)
  const ralph = `node ${shellWord(process.argv[1] ?? 'ralph')}`
  context.print(
    `\nLook at it:\n  cd ${directory} && git log --stat\n  ${ralph} report -C ${directory} --open`,
  )
  context.print(`Then, in your own project:\n  ${ralph} init`)
  return { ...answer, more: { ...answer.more, directory } }
}

/** The line that says best why the gate rejected the first attempt at US-002; null if its log cannot be read. */
async function failureOf(directory: string): Promise<string | null> {
  const logs = join(directory, '.git', 'ralph', 'logs')
  try {
    const [run = ''] = await readdir(logs)
    const output = await readFile(join(logs, run, 'US-002-1-test.log'), 'utf8')
    const [, got] = /^ *\+ (\d[\d.]*)$/m.exec(output) ?? []
    const [, wanted] = /^ *- (\d[\d.]*)$/m.exec(output) ?? []
    // Node 24 prints its own format, Node 20 in a pipe prints TAP.
    const [, name] = /^ *(?:✖|not ok \d+ -) (.*?)(?: \([\d.]+ms\))?$/m.exec(output) ?? []
    if (got === undefined || wanted === undefined || name === undefined) return tellingLine(output)
    return `${name}: ${got} is not ${wanted}`
  } catch {
    return null
  }
}

/** How many criteria of the finished plan have the level `proved`; 0 if it cannot be read. */
async function provedCriteria(path: string): Promise<number> {
  try {
    const prd: unknown = JSON.parse(await readFile(path, 'utf8'))
    const { userStories } = z.parse(JUDGED, prd)
    const levels = userStories.flatMap(({ lastResult }) => lastResult?.evidence ?? [])
    return levels.filter(({ level }) => level === 'proved').length
  } catch {
    return 0
  }
}

const JUDGED = z.object({
  userStories: z.array(
    z.object({ lastResult: z.nullable(z.object({ evidence: z.optional(z.array(Evidence)) })) }),
  ),
})

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ralph demo',
  GIT_AUTHOR_EMAIL: 'demo@localhost',
  GIT_COMMITTER_NAME: 'Ralph demo',
  GIT_COMMITTER_EMAIL: 'demo@localhost',
}
