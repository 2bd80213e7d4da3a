// `ralph demo`: a complete run on a sample project in a temporary folder, with a scripted agent that really edits files.
import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requireGit } from '../git/git-version.ts'
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
  context.print(`A sample project was made in ${directory}`)
  context.print(`Its stories: ${folder}/prd.json. Its gates: node --check, node --test.\n`)
  // The agent is this program again, as a process of its own: only its files and its exit code count.
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
  const hints = [
    ['git log --stat', 'one commit a story, each with green gates'],
    [`cat ${folder}/progress.txt`, 'what happened, the rejected attempt too'],
    ['less .git/ralph/transcripts/*/*', 'what the agent said'],
  ]
  context.print(`\nLook at it:\n  cd ${directory}`)
  for (const [command = '', meaning] of hints) context.print(`  ${command.padEnd(48)}${meaning}`)
  return { ...answer, more: { ...answer.more, directory } }
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ralph demo',
  GIT_AUTHOR_EMAIL: 'demo@localhost',
  GIT_COMMITTER_NAME: 'Ralph demo',
  GIT_COMMITTER_EMAIL: 'demo@localhost',
}
