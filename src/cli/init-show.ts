// How `ralph init` shows what it found and what it would write: git's own diff, so that a file is read as in a pull request.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAgent } from '../agents/registry.ts'
import { execute, NO_CONFIG, plainEnv } from '../git/process.ts'
import type { Found, Settled } from '../init/answers.ts'
import { type Change, keysOf, UNPINNED } from '../init/files.ts'
import { plainLines } from '../model/text.ts'
import { terminalText } from '../report/escape.ts'
import { diffColours, type Look, paint } from '../terminal/line.ts'
import { wrap } from '../terminal/width.ts'
import { writeAll } from './write.ts'

/** The files as they are and as they would be, as lines. */
export async function diffLines(
  changes: readonly Change[],
  env: Readonly<Record<string, string>>,
  look: Look,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-init-'))
  try {
    for (const { path, before, text } of changes)
      await writeAll(
        folder,
        before === null ? { [`b/${path}`]: text } : { [`b/${path}`]: text, [`a/${path}`]: before },
      )
    await mkdir(join(folder, 'a'), { recursive: true })
    const how = { directory: folder, env: { ...plainEnv(env), ...NO_CONFIG }, accept: [1] }
    const { stdout } = await execute([...DIFF, 'a', 'b'], how)
    const lines = plainLines(stdout).trimEnd().split('\n')
    return lines.filter((line) => !NOISE.test(line)).map((line) => paint(line, diffColours(line), look))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const DIFF = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-prefix', '--no-color']
const NOISE = /^(?:index |new file mode |--- |\+\+\+ |@@ -0,0)/

/** What was found, a line each; `chosen` is the agent that a flag or a file names already. */
export function foundLines(
  { project, isEmpty, agent, here, olderGates, baseBranch }: Found,
  chosen: string | null,
  look: Look,
): string[] {
  const name = chosen ?? agent.name
  const vendor = findAgent(name)
  const isOfUser = vendor?.npm === null && vendor.login === null
  const version = name === agent.name && agent.version !== null ? ` ${agent.version}` : ''
  const elsewhere = isOfUser ? '' : ', not on this machine'
  const rows = [
    ['project', isEmpty ? 'no code yet' : project.languages.join(', ') || 'of a kind that is not known here'],
    ['tools', project.managers.join(', ')],
    ['prepare', project.prepare ?? ''],
    ...Object.entries(project.gates).flatMap(([name, run]) =>
      name in olderGates ? [] : [[`gate ${name}`, run]],
    ),
    ...Object.entries(olderGates).map(([name, { run, path }]) => [`gate ${name}`, `${run} (${path})`]),
    ['agent', `${name}${here.includes(name) ? version : elsewhere}`],
    ['base branch', baseBranch ?? ''],
  ]
  const told = rows.filter(([, text]) => text !== '')
  const labels = Math.max(...told.map(([name = '']) => name.length))
  const lines = told.flatMap(([name = '', text = '']) => {
    const parts = fitted(terminalText(text), look, labels + 4)
    return parts.map((part, at) => `  ${(at === 0 ? name : '').padEnd(labels)}  ${part}`)
  })
  return [
    paint('Found:', ['bold'], look),
    ...lines,
    ...project.notes.flatMap((note) => fitted(`note: ${note}`, look)),
  ]
}

/** In lines as wide as the terminal; one line where it is none. */
function fitted(text: string, { width }: Look, indent = 0): string[] {
  return wrap(text, Math.max(20, width - indent))
}

export function isWritten({ kind }: Change): boolean {
  return kind === 'new' || kind === 'completed'
}

type Done = {
  changes: readonly Change[]
  settled: Settled
  isRepository: boolean
}

/** What was done, what a person has to know, and the next commands. */
export function closingLines(done: Done, look: Look): string[] {
  const { changes, settled, isRepository } = done
  const written = changes.filter(isWritten)
  const key = keysOf(String(settled.inputs.agent), () => false)[0]
  const left = changes.filter(({ kind }) => kind === 'there').map(({ path }) => path)
  // A folder with a dot whole, anything else by its path.
  const roots = new Set(written.map(({ path }) => /^\.[^/]+(?=\/)/.exec(path)?.[0] ?? path))
  const added = isRepository ? [...roots].join(' ') : '--all'
  const next = [
    ...(written.length === 0 ? [] : [`git add ${added} && git commit -m "ci: Ralph"`]),
    'ralph doctor',
    'ralph plan',
  ]
  return [
    '',
    paint(written.length > 0 ? 'Written:' : 'Nothing was written: every file is there.', ['bold'], look),
    ...written.map(({ path }) => `  ${path}`),
    ...(left.length > 0 ? fitted(`There already, and left as they are: ${left.join(', ')}`, look) : []),
    ...warningsOn(done).flatMap((text) =>
      fitted(`warning: ${text}`, look).map((line) => paint(line, ['yellow'], look)),
    ),
    ...(key === undefined ? [] : keyLines(key, look)),
    '',
    paint('Next:', ['bold'], look),
    ...next.map((line) => `  ${line}`),
  ]
}

/** The environment is there only when a job has run, or when it is made. */
function keyLines(key: string, look: Look): string[] {
  return [
    ...fitted('In CI the agent needs its key, in the environment ralph:', look),
    '  gh api -X PUT repos/{owner}/{repo}/environments/ralph',
    `  gh secret set ${key} --env ralph`,
  ]
}

const UNGATED =
  'gates: none: no command proves anything; write one into both files as soon as there is a test'
const UNKNOWN_COMMIT =
  'the commit of the action is not known: put it in the place of <sha> (git ls-remote https://github.com/ralph/action v1)'

export function warningsOn({ changes, settled: { inputs } }: Done): string[] {
  const isUnpinned = ({ text, before }: Change) => (before ?? text).includes(UNPINNED)
  const vendor = findAgent(String(inputs.agent))
  const isByHand = vendor !== null && vendor.npm === null && vendor.login !== null
  return [
    ...(inputs.gates === 'none' ? [UNGATED] : []),
    ...(changes.some(isUnpinned) ? [UNKNOWN_COMMIT] : []),
    ...(isByHand
      ? [`Ralph cannot install ${vendor.name}: add a step to the workflow: ${vendor.install}`]
      : []),
  ]
}
