// `ralph init`: looks at a folder, asks what it cannot know, and writes workflow, configuration and issue form beside what is there.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { defaultAgent, findAgent } from '../agents/registry.ts'
import { oneLine } from '../engine/model/text.ts'
import { PACKAGE } from '../engine/model/version.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import { outputsOf } from '../report/outputs.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import { actionlintFile, actionlintNote } from '../setup/init/actionlint.ts'
import { type FoundFacts, resolveAnswers, type WrittenSettings } from '../setup/init/answers.ts'
import { bmadFiles } from '../setup/init/bmad.ts'
import { parseIndent } from '../setup/init/editorconfig.ts'
import {
  type Change,
  CONFIG,
  compareFile,
  planFiles,
  secretsOfAgent,
  type Templates,
  WORKFLOW,
} from '../setup/init/init-files.ts'
import { UserError } from '../system/errors.ts'
import { isFolderSync } from '../system/files.ts'
import { findProgram } from '../system/program.ts'
import {
  type CommandResult,
  type Context,
  errorResult,
  findTop,
  interruptedResult,
  printLines,
  settingsOf,
} from './command-context.ts'
import {
  type ConfigStatus,
  look,
  mistakesIn,
  openTree,
  type Place,
  readConfigStatus,
  readTextAt,
  releasedCommit,
  settingsFromFlags,
} from './init-look.ts'
import { askAll } from './init-questions.ts'
import { closingLines, diffLines, foundLines, isWritten, warningsOn } from './init-show.ts'
import { proposedGates, type TrialResults, tryProposals, untried } from './init-try.ts'
import { Cancelled, type TerminalPrompts, terminalPrompts } from './terminal-questions.ts'
import { linkMistakes, writeFiles } from './write-files.ts'

/** Gives 0 where it is written or there was nothing to do, 130 where the person has left. */
export async function init(context: Context): Promise<CommandResult> {
  try {
    if (context.flags.notify !== true) return await written(context)
    const { initNotify } = await import(/* webpackChunkName: "cli" */ './notify-own.ts')
    return await initNotify(context)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    printLines(process.stderr, 'Nothing was written.')
    return interruptedResult()
  }
}

async function written(context: Context): Promise<CommandResult> {
  const { env, flags } = context
  const { top, isRepository } = placeOf(context)
  const ask = flags.yes === true || context.json ? null : terminalPrompts(context)
  const shown = lookOf(context.out, env.NO_COLOR !== undefined)
  const say = (lines: readonly string[]) => context.say(lines.join('\n'))
  const { workingDirectory, gateEnv } = (await settingsOf(context)).settings
  const tree = openTree(top)
  const seen = await look({ top, isRepository, tree, workingDirectory }, env)
  const standing = readConfigStatus(top, env)
  const flagged = settingsFromFlags(context)
  const older = seen.olderSettings.agent === undefined ? {} : { agent: seen.olderSettings.agent.value }
  const { agent: known }: WrittenSettings = { ...older, ...standing.config, ...flagged }
  say(foundLines(seen, known === undefined ? null : String(known), shown))
  const pin = pinOf(flags) ?? (await releasedCommit(top, env))
  const required = flags.required === true
  const first = { context, top, tree, found: seen, standing, pin, required, texts: await templates() }
  const tried = await triedBy(ask, first, flagged, { top, isRepository, workingDirectory, gateEnv })
  const project = { ...first, found: tried.found }
  // Where workflow and configuration are there, no answer has a place.
  const { settled: proposed, changes: before } = drafted(project, flagged)
  const answers =
    ask === null || !isWanted(before)
      ? { person: {}, required }
      : await askAll({ ask, proposed: proposed.inputs, answered: flagged, required, here: seen.here, env })
  const { settled, changes } = drafted(
    { ...project, required: answers.required },
    { ...flagged, ...answers.person },
  )
  const mistakes = mistakesIn(settled, standing, tried.leftOut, env)
  if (mistakes.length > 0) return errorResult(context, new UserError(mistakes), { tried: tried.trials })
  const fresh = changes.filter(isWritten)
  if (fresh.length > 0) say(['', ...(await diffLines(fresh, env, shown))])
  const question = fresh.length === 1 ? 'Write this file?' : `Write these ${fresh.length} files?`
  if (ask !== null && fresh.length > 0 && !(await ask.yes(question, true))) throw new Cancelled()
  if (!isRepository) await makeRepository(top, env)
  const files = Object.fromEntries(fresh.map(({ path, text }) => [path, text]))
  await writeFiles(top, files)
  const ignored = await ignoredAmong(top, Object.keys(files), env)
  const program = env.npm_command === 'exec' ? `npx ${PACKAGE}` : 'ralph'
  const done = { changes, settled, isRepository, tried, ignored, note: actionlintNote(tree), program }
  say(closingLines(done, shown))
  const kinds = changes.map(({ path, kind }) => ({ path, kind }))
  const warnings = warningsOn(done)
  const more = { files: kinds, settings: settled.inputs, tried: tried.trials, warnings }
  return { code: 0, outputs: outputsOf(null, null, null), more }
}

type Project = Pick<Place, 'top' | 'tree'> & {
  context: Context
  found: FoundFacts
  standing: ConfigStatus
  /** The commit of the action. */
  pin: string | null
  /** Whether the workflow is written that answers for a required check. */
  required: boolean
  texts: Templates
}

/** What would be written with these answers, beside what is there. */
function drafted(
  { context, top, tree, found, standing, pin, required, texts }: Project,
  person: WrittenSettings,
) {
  const { env, flags } = context
  const settled = resolveAnswers({ ...standing, person }, found)
  const agent = String(settled.inputs.agent)
  const keys = secretsOfAgent(agent, (name) => (env[name] ?? '') !== '')
  const isOther = standing.configAt !== null && standing.configAt !== CONFIG
  const indent = parseIndent(tree.text('.editorconfig'))
  const setups = found.project.setups
  const planned = planFiles({ ...settled, keys, pin, required, setups, indent }, texts)
  const lint = actionlintFile(tree)
  if (lint !== null) planned.push(lint)
  const files = planned.filter(({ path }) => !(isOther && path === CONFIG))
  // BMAD is made for the first of them.
  const places = [...new Set([defaultAgent, agent])].flatMap((name) => findAgent(name)?.slashCommands ?? [])
  if (flags.bmad === true) files.push(...bmadFiles(tree, places, texts.bmad))
  const paths = files.map(({ path }) => path)
  const wrong = linkMistakes(top, paths)
  if (wrong.length > 0) throw new UserError(wrong)
  return { settled, changes: files.map((file) => compareFile(file, readTextAt(top, file.path), pin)) }
}

/** What is proposed, tried once; a second time, and where a person has named the gates, there is nothing to try. */
async function triedBy(
  ask: TerminalPrompts | null,
  project: Project,
  flagged: WrittenSettings,
  place: Parameters<typeof tryProposals>[1],
): Promise<TrialResults> {
  const { context, found, standing } = project
  const given = { ...standing.config, ...flagged }
  const gates = proposedGates(found)
  const isDone = !isWanted(drafted(project, flagged).changes)
  if (context.flags.try === false || isDone || 'gates' in given || gates.length === 0) return untried(found)
  const own = "this runs the project's own code on this machine"
  if (ask === null) context.say(`\nTrying each command once, in a copy; ${own} (--no-try leaves it out):`)
  else if (!(await ask.yes(`Try these commands once, in a copy? ${own}`, true))) return untried(found)
  const prepare = 'prepare' in given ? String(given.prepare ?? '') || null : found.project.prepare
  return tryProposals(context, place, found, prepare)
}

/** Whether a file is new that answers have a place in. */
function isWanted(changes: readonly Change[]): boolean {
  return changes.some(({ path, kind }) => kind === 'new' && [CONFIG, WORKFLOW].includes(path))
}

/** The files of examples/ that it starts from; the bundle has them beside its code. */
async function templates(): Promise<Templates> {
  const [main, separate, parallel, resume, required, issueForm, bmad] = await Promise.all([
    readFile(new URL('../../examples/ralph.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-separate.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-parallel.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-resume.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-required.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ISSUE_TEMPLATE/ralph.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/bmad/ralph.md', import.meta.url), 'utf8'),
  ])
  return { main, separate, parallel, resume, required, issueForm, bmad }
}

function placeOf({ directory, env }: Context): { top: string; isRepository: boolean } {
  const expected = "a project's folder"
  const fix = 'go to one, or name it with -C'
  if (!isFolderSync(directory)) throw new UserError({ path: directory, found: 'no folder', expected, fix })
  const place = findTop(directory)
  if (!place.isRepository && [homedir(), '/'].includes(directory))
    throw new UserError({ path: directory, found: 'your home folder', expected, fix })
  if (findProgram('git', env.PATH ?? '') === null)
    throw new UserError({ path: 'git', found: 'no git on the PATH', expected: 'git', fix: 'install git' })
  return place
}

function pinOf({ pin }: Context['flags']): string | null {
  if (typeof pin !== 'string') return null
  if (/^[0-9a-f]{40}$/.test(pin)) return pin
  const found = `"${oneLine(pin, 80)}"`
  const fix = 'git ls-remote https://github.com/ralph/action v1 prints it'
  throw new UserError({ path: '--pin', found, expected: 'a commit of 40 digits', fix })
}

/** The paths that a .gitignore hides: `git add` takes them only by force. */
async function ignoredAmong(top: string, paths: readonly string[], env: Context['env']): Promise<string[]> {
  const options = { directory: top, env: gitEnv(env), accept: [1, 128], input: paths.join('\0') }
  const { stdout } = await execute(['check-ignore', '-z', '--stdin'], options)
  return stdout.split('\0').filter(Boolean)
}

/** On the branch that the person's own git begins with, else `main`. */
async function makeRepository(top: string, env: Readonly<Record<string, string>>): Promise<void> {
  const options = { directory: top, env: gitEnv(env) }
  const { stdout } = await execute(['config', '--get', 'init.defaultBranch'], { ...options, accept: [1] })
  await execute(['init', '--quiet', '--initial-branch', stdout.trim() || 'main'], options)
}
