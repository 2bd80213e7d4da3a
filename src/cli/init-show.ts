// How `ralph init` shows what it found and what it would write: git's own diff, so that a file is read as in a pull request.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAgent } from '../agents/registry.ts'
import type { Trial } from '../app/trial.ts'
import { sanitizeText } from '../engine/model/text.ts'
import { execute, gitEnv, NO_CONFIG } from '../git/git-process.ts'
import { terminalText } from '../report/escape.ts'
import { diffColours, type Look, paint } from '../report/terminal/terminal-line.ts'
import { wrap } from '../report/terminal/width.ts'
import { toKebabCase } from '../settings/setting.ts'
import type { FoundFacts, ResolvedAnswers } from '../setup/init/answers.ts'
import { type Change, secretsOfAgent, toYaml, UNPINNED } from '../setup/init/init-files.ts'
import { summaryLines } from './init-summary.ts'
import type { TrialResults } from './init-try.ts'
import { writeFiles } from './write-files.ts'

/** The files as they are and as they would be, as lines. */
export async function diffLines(
  changes: readonly Change[],
  env: Readonly<Record<string, string>>,
  look: Look,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-init-'))
  try {
    for (const { path, before, text } of changes)
      await writeFiles(
        folder,
        before === null ? { [`b/${path}`]: text } : { [`b/${path}`]: text, [`a/${path}`]: before },
      )
    await mkdir(join(folder, 'a'), { recursive: true })
    const how = { directory: folder, env: { ...gitEnv(env), ...NO_CONFIG }, accept: [1] }
    const { stdout } = await execute([...DIFF, 'a', 'b'], how)
    const lines = sanitizeText(stdout).trimEnd().split('\n')
    return lines.filter((line) => !NOISE.test(line)).map((line) => paint(line, diffColours(line), look))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const DIFF = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-prefix', '--no-color']
const NOISE = /^(?:index |new file mode |--- |\+\+\+ |@@ -0,0)/

/** What was found, a line each; `chosen`: the agent that a flag or a file names already. */
export function foundLines(
  { project, isEmpty, agent, installedAgents, olderGates, olderSettings, olderNotes, baseBranch }: FoundFacts,
  chosen: string | null,
  look: Look,
): string[] {
  const name = chosen ?? agent.name
  const vendor = findAgent(name)
  const isOfUser = vendor?.npm === null && vendor.login === null
  const version = name === agent.name && agent.version !== null ? ` ${agent.version}` : ''
  const elsewhere = isOfUser ? '' : ', not on this machine'
  const rows = [
    [
      'project',
      isEmpty ? 'no code yet' : project.languages.join(', ') || 'of a kind that Ralph does not know',
    ],
    ['tools', project.managers.join(', ')],
    ['prepare', project.prepare ?? ''],
    ...Object.entries(project.gates).flatMap(([name, run]) =>
      name in olderGates ? [] : [[`gate ${name}`, run]],
    ),
    ...Object.entries(olderGates).map(([name, { run, path }]) => [`gate ${name}`, `${run} (${path})`]),
    ...Object.entries(olderSettings).map(([key, { value, path }]) => [
      toKebabCase(key),
      `${valueText(value)} (${path})`,
    ]),
    ['agent', `${name}${installedAgents.includes(name) ? version : elsewhere}`],
    ['base branch', baseBranch ?? ''],
  ]
  const filled = rows.filter(([, text]) => text !== '')
  const labelWidth = Math.max(...filled.map(([name = '']) => name.length))
  const lines = filled.flatMap(([name = '', text = '']) => {
    const parts = wrapToWidth(terminalText(text), look, labelWidth + 4)
    return parts.map((part, at) => `  ${(at === 0 ? name : '').padEnd(labelWidth)}  ${part}`)
  })
  return [
    paint('Found:', ['bold'], look),
    ...lines,
    ...[...project.notes, ...olderNotes].flatMap((note) => wrapToWidth(`note: ${terminalText(note)}`, look)),
  ]
}

/** A value in one line, much as YAML writes it. */
function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** In lines as wide as the terminal; one line where there is no terminal. */
function wrapToWidth(text: string, { width }: Look, indent = 0): string[] {
  return wrap(text, Math.max(20, width - indent))
}

export function isWritten({ kind }: Change): boolean {
  return kind === 'new' || kind === 'completed'
}

type Done = {
  changes: readonly Change[]
  answers: ResolvedAnswers
  isRepository: boolean
  /** What a person has to do by hand, beside all that follows from the files. */
  note: string | null
  tried: TrialResults
  /** Those of the written files that git ignores. */
  ignored: readonly string[]
  /** How the commands of Ralph are started here: npx leaves no `ralph` on the PATH. */
  program: string
}

/** What was done, what a person has to know, and the next commands. */
export function closingLines(done: Done, look: Look): string[] {
  const { changes, answers, tried, program } = done
  const written = changes.filter(isWritten)
  const key = secretsOfAgent(String(answers.inputs.agent), () => false)[0]
  const left = changes.filter(({ kind }) => kind === 'there').map(({ path }) => path)
  const missing = findMissing(done).flatMap(([isSo, short]) => (isSo ? [short] : []))
  const next = [
    ...(written.length === 0 ? [] : [`${addCommand(done)} && git commit -m "ci: Ralph"`]),
    `${program} doctor`,
    `${program} plan`,
  ]
  return [
    '',
    ...(written.length > 0 ? [paint('Written:', ['bold'], look)] : [paint(NOTHING_WRITTEN, ['bold'], look)]),
    ...written.map(({ path }) => `  ${path}`),
    ...(left.length > 0 ? wrapToWidth(`There already, and left as they are: ${left.join(', ')}`, look) : []),
    ...warningsOn(done).flatMap((text) =>
      wrapToWidth(`warning: ${text}`, look).map((line) => paint(line, ['yellow'], look)),
    ),
    ...leftOutLines(tried.leftOut, look),
    ...(key === undefined ? [] : keyLines(key, look)),
    '',
    ...summaryLines(
      { written: written.map(({ path }) => path), answers: answers, tried, missing, next },
      look,
    ),
  ]
}

const NOTHING_WRITTEN = 'Nothing was written: every file is there.'

function isUnpinned({ text, before, kind }: Change): boolean {
  return (kind === 'there' ? (before ?? text) : text).includes(UNPINNED)
}

function addCommand({ changes, isRepository, ignored }: Done): string {
  const written = changes.filter(isWritten).map(({ path }) => path)
  // A file in a hidden folder, such as .github, is added with that whole folder.
  const rootsOf = (paths: readonly string[]) =>
    [...new Set(paths.map((path) => /^\.[^/]+(?=\/)/.exec(path)?.[0] ?? path))].join(' ')
  const forced = ignored.length === 0 ? '' : `git add --force ${ignored.join(' ')}`
  const tracked = written.filter((path) => !ignored.includes(path))
  const usual = isRepository ? `git add ${rootsOf(tracked)}` : 'git add --all'
  return [...(tracked.length === 0 ? [] : [usual]), ...(forced === '' ? [] : [forced])].join(' && ')
}

/** Gates that are left out, and how each comes back. */
function leftOutLines(leftOut: readonly Trial[], look: Look): string[] {
  if (leftOut.length === 0) return []
  const lines = leftOut.flatMap(({ name, run, ended, line }) => [
    ...wrapToWidth(terminalText(`${name}: ${ended}${line && `: ${line}`}`, 400), look, 2),
    `    ${terminalText(toYaml({ [name]: run }), 400)}`,
  ])
  const head =
    'Left out, for they are not green here. Once they are, add the line under gates: in both files:'
  return [paint(head, ['yellow'], look), ...lines.map((line) => `  ${line}`)]
}

/** GitHub makes an environment when a job first uses it. Before that, the first of these commands makes it. */
function keyLines(key: string, look: Look): string[] {
  return [
    ...wrapToWidth('In CI the agent needs its key, in the environment ralph:', look),
    '  gh api -X PUT repos/{owner}/{repo}/environments/ralph',
    `  gh secret set ${key} --env ralph`,
    ...wrapToWidth(
      'A private repository on GitHub Free has no environments: leave "--env ralph" out there.',
      look,
    ),
  ]
}

const UNGATED =
  'gates: none: no command proves anything; write one into both files as soon as there is a test'
const UNTESTED =
  'no gate runs tests: what passes these gates may not work; add one to both files (gates: test: COMMAND)'
/** Names of gates that show nothing of what the code does. */
const STATIC = /(?:^|-)(?:typecheck|lint|format|vet|build)$/
const UNKNOWN_COMMIT =
  'the commit of the action is not known here, so the workflow has <sha> instead, and no run starts in CI. With a network `ralph init` fills it in when it is run again; or give the commit that `git ls-remote https://github.com/ralph/action v1` prints: ralph init --pin COMMIT'

function isUntested(gates: unknown): boolean {
  return typeof gates === 'object' && gates !== null && Object.keys(gates).every((name) => STATIC.test(name))
}

type Missing = [isSo: boolean, short: string, ...long: string[]]

/** What keeps a run from working, or from proving anything, the most important one first: in a few words, and in a warning. */
function findMissing({ changes, answers, tried, ignored, note }: Done): Missing[] {
  const { agent, gates } = answers.inputs
  const vendor = findAgent(String(agent))
  const key = secretsOfAgent(String(agent), () => false)[0]
  const red = tried.leftOut.map(({ name }) => name).join(', ')
  const paths = ignored.join(', ')
  // Ralph cannot install it, and it is not the user's own command (`custom`).
  const isByHand = vendor !== null && vendor.npm === null && vendor.login !== null
  return [
    [gates === 'none', 'a gate: no command checks what the agent does', UNGATED],
    [isUntested(gates), 'a gate that runs tests', UNTESTED],
    [
      changes.some(isUnpinned),
      'the commit of the action instead of <sha>: no run starts in CI',
      UNKNOWN_COMMIT,
    ],
    [key !== undefined, `the secret ${key}, for runs in CI, unless it is set already (commands above)`],
    [red !== '', `not green here, and left out: ${red}`],
    [
      isByHand,
      `a step of the workflow that installs ${agent}`,
      `Ralph cannot install ${agent}: add a step to the workflow: ${vendor?.install}`,
    ],
    [
      paths !== '',
      `in git: ${paths}, which .gitignore hides`,
      `git ignores ${paths}: a run reads only what is committed`,
    ],
    [note !== null, "the project's actionlint does not know `queue` (warning above)", note ?? ''],
    [tried.warnings.length > 0, 'a look at gates that could not be tried (warning above)', ...tried.warnings],
  ]
}

export function warningsOn(done: Done): string[] {
  return findMissing(done).flatMap(([isSo, _short, ...long]) => (isSo ? long : []))
}
