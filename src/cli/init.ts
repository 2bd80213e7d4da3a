// `ralph init`: looks at a folder, asks what it cannot know, and writes the workflow, configuration and issue form that are missing.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { findKeyless } from '../agents/keyless/short-key.ts'
import { defaultAgent, findAgent } from '../agents/registry.ts'
import { oneLine } from '../engine/model/text.ts'
import { PACKAGE } from '../engine/model/version.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import { requireGit } from '../git/git-version.ts'
import { outputsOf } from '../report/outputs.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import { ACTIONS_LOCK, LOCK_FIX } from '../setup/actions-lock.ts'
import { actionlintFile, actionlintNote } from '../setup/init/actionlint.ts'
import { secretsOfAgent } from '../setup/init/agent-secrets.ts'
import { type FoundFacts, resolveAnswers, type WrittenSettings } from '../setup/init/answers.ts'
import { bmadFiles } from '../setup/init/bmad.ts'
import { parseIndent } from '../setup/init/editorconfig.ts'
import {
  CONFIG,
  compareFile,
  type FileChange,
  planFiles,
  type Templates,
  WORKFLOW,
} from '../setup/init/init-files.ts'
import { UserError } from '../system/errors.ts'
import { isFolderSync } from '../system/files.ts'
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
  defaultBranchOf,
  findFacts,
  findOtherHost,
  mistakesIn,
  openTree,
  type Place,
  readConfigStatus,
  readTextAt,
  releasedCommit,
  settingsFromFlags,
} from './init-look.ts'
import { askAll, askRedTests } from './init-questions.ts'
import { closingLines, diffLines, foundLines, isWritten, warningsOn } from './init-show.ts'
import { proposedGates, type TrialResults, tryProposals, untried } from './init-try.ts'
import { Cancelled, type TerminalPrompts, terminalPrompts } from './terminal-questions.ts'
import { linkMistakes, writeFiles } from './write-files.ts'

/** Exit 0 if the files were written or nothing was to be done, 130 if the person cancelled. */
export async function init(context: Context): Promise<CommandResult> {
  try {
    if (context.flags.notify !== true) return await initProject(context)
    const { initNotify } = await import(/* webpackChunkName: "cli" */ './notify-own.ts')
    return await initNotify(context)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    printLines(process.stderr, 'Nothing was written.')
    return interruptedResult()
  }
}

async function initProject(context: Context): Promise<CommandResult> {
  const { env, flags } = context
  const { top, isRepository } = placeOf(context)
  await requireGit(env)
  const ask = flags.yes === true || context.json ? null : terminalPrompts(context)
  const look = lookOf(context.out, env.NO_COLOR !== undefined)
  const print = (lines: readonly string[]) => context.print(lines.join('\n'))
  const { workingDirectory, gateEnv } = (await settingsOf(context)).settings
  const tree = openTree(top)
  const found = await findFacts({ top, isRepository, tree, workingDirectory }, env)
  const existing = readConfigStatus(top, env)
  const fromFlags = settingsFromFlags(context)
  const olderAgent = found.olderSettings.agent === undefined ? {} : { agent: found.olderSettings.agent.value }
  const { agent: knownAgent }: WrittenSettings = { ...olderAgent, ...existing.config, ...fromFlags }
  print(foundLines(found, knownAgent === undefined ? null : String(knownAgent), look))
  const pin = pinOf(flags) ?? (await releasedCommit(top, env))
  const required = flags.required === true
  const first = {
    context,
    top,
    tree,
    found,
    existing,
    pin,
    required,
    texts: await templates(),
  }
  const trials = await tryGates(ask, first, fromFlags, { top, isRepository, workingDirectory, gateEnv })
  const tried = ask === null ? trials : await askRedTests(ask, trials)
  const project = { ...first, found: tried.found }
  // If workflow and configuration exist, no answer would be written.
  const { resolved: proposed, changes: before } = draftFiles(project, fromFlags)
  const answers =
    ask === null || !needsAnswers(before)
      ? { person: {}, required }
      : await askAll({
          ask,
          proposed: proposed.inputs,
          answered: fromFlags,
          written: existing.config,
          required,
          here: found.installedAgents,
          env,
        })
  const { resolved, keys, keyless, changes } = draftFiles(
    { ...project, required: answers.required },
    { ...fromFlags, ...answers.person },
  )
  const mistakes = mistakesIn(resolved, keys, existing, tried.leftOut, env)
  if (mistakes.length > 0)
    return errorResult(context, new UserError(mistakes), { tried: withoutOutput(tried) })
  const toWrite = changes.filter(isWritten)
  const showDiff = async () => print(['', ...(await diffLines(toWrite, env, look))])
  if (flags.diff === true && toWrite.length > 0) await showDiff()
  if (ask !== null && toWrite.length > 0) await confirmWriting(ask, toWrite.length, showDiff)
  if (!isRepository) await makeRepository(top, env)
  const files = Object.fromEntries(toWrite.map(({ path, text }) => [path, text]))
  await writeFiles(top, files)
  if (readTextAt(top, ACTIONS_LOCK) !== null)
    context.warn(
      `this repository locks its actions in ${ACTIONS_LOCK}: ${LOCK_FIX}. Otherwise GitHub may start no job`,
    )
  const ignored = await ignoredAmong(top, Object.keys(files), env)
  const program = env.npm_command === 'exec' ? `npx ${PACKAGE}` : 'ralph'
  const done = {
    changes,
    keys,
    keyless,
    defaultBranch: await defaultBranchOf(top, env),
    otherHost: await findOtherHost(top, env),
    answers: resolved,
    isRepository,
    tried,
    ignored,
    note: actionlintNote(tree),
    program,
  }
  print(closingLines(done, look))
  const kinds = changes.map(({ path, kind }) => ({ path, kind }))
  const warnings = warningsOn(done)
  const more = { files: kinds, settings: resolved.inputs, tried: withoutOutput(tried), warnings }
  return { code: 0, outputs: outputsOf(null, null, null), more }
}

/** Throws Cancelled if the files are not to be written. `show`: prints them. */
async function confirmWriting(ask: TerminalPrompts, count: number, show: () => Promise<void>): Promise<void> {
  const question = count === 1 ? 'Write this file?' : `Write these ${count} files?`
  const choices = [
    { value: 'yes', label: 'yes' },
    { value: 'show', label: 'show them first' },
    { value: 'no', label: 'no' },
  ]
  const answer = await ask.choose(question, choices, 'yes')
  if (answer === 'show') await show()
  if (answer === 'no' || (answer === 'show' && !(await ask.yes('Write them?', true)))) throw new Cancelled()
}

type Project = Pick<Place, 'top' | 'tree'> & {
  context: Context
  found: FoundFacts
  existing: ConfigStatus
  /** The commit of the action. */
  pin: string | null
  /** Whether the workflow is written that answers for a required check. */
  required: boolean
  texts: Templates
}

/** The files that these answers lead to, each compared with the one that exists. */
function draftFiles(
  { context, top, tree, found, existing, pin, required, texts }: Project,
  person: WrittenSettings,
) {
  const { env, flags } = context
  const isSet = (name: string) => (env[name] ?? '') !== ''
  const resolved = resolveAnswers({ ...existing, person }, found, isSet)
  const agent = String(resolved.inputs.agent)
  const isKeyless = resolved.inputs.auth === 'oidc'
  const keyless = isKeyless ? findKeyless(findAgent(agent)?.keyless, isSet) : null
  const keys = keyless === null ? secretsOfAgent(agent, isSet) : []
  const isOther = existing.configAt !== null && existing.configAt !== CONFIG
  const indent = parseIndent(tree.text('.editorconfig'))
  const { setups, tools, submodules } = found.project
  const planned = planFiles(
    { ...resolved, keys, keyless, pin, required, setups, tools, submodules, indent },
    texts,
  )
  const lint = actionlintFile(tree)
  if (lint !== null) planned.push(lint)
  const files = planned.filter(({ path }) => !(isOther && path === CONFIG))
  // The BMAD file goes to the first of these folders.
  const places = [...new Set([defaultAgent, agent])].flatMap((name) => findAgent(name)?.slashCommands ?? [])
  if (flags.bmad === true) files.push(...bmadFiles(tree, places, texts.bmad))
  const paths = files.map(({ path }) => path)
  const mistakes = linkMistakes(top, paths)
  if (mistakes.length > 0) throw new UserError(mistakes)
  return {
    resolved,
    keys,
    keyless,
    changes: files.map((file) => compareFile(file, readTextAt(top, file.path), pin)),
  }
}

/** Tries the proposed gates. Nothing is tried if the files exist already, or if a person has named the gates. */
async function tryGates(
  ask: TerminalPrompts | null,
  project: Project,
  fromFlags: WrittenSettings,
  place: Parameters<typeof tryProposals>[1],
): Promise<TrialResults> {
  const { context, found, existing } = project
  const answered = { ...existing.config, ...fromFlags }
  const gates = proposedGates(found)
  const isDone = !needsAnswers(draftFiles(project, fromFlags).changes)
  if (context.flags.try === false || isDone || 'gates' in answered || gates.length === 0)
    return untried(found)
  const own = "This runs the project's own code on this machine"
  if (ask === null) context.print(`\nTrying each command once, in a copy. ${own} (--no-try skips this):`)
  else if (!(await ask.yes(`Try these commands once, in a copy? ${own}`, true))) return untried(found)
  const prepare = 'prepare' in answered ? String(answered.prepare ?? '') || null : found.project.prepare
  return tryProposals(context, place, found, prepare)
}

/** Whether a file will be written that holds answers. */
function needsAnswers(changes: readonly FileChange[]): boolean {
  return changes.some(({ path, kind }) => kind === 'new' && [CONFIG, WORKFLOW].includes(path))
}

function withoutOutput({ trials }: TrialResults): object[] {
  return trials.map(({ output: _output, failures: _failures, ...shown }) => shown)
}

/** The templates in examples/; the bundle has them alongside its code. */
async function templates(): Promise<Templates> {
  const [main, separate, parallel, separateParallel, resume, required, issueForm, bmad] = await Promise.all([
    readFile(new URL('../../examples/ralph.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-separate.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-parallel.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-separate-parallel.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-resume.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-required.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ISSUE_TEMPLATE/ralph.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/bmad/ralph.md', import.meta.url), 'utf8'),
  ])
  return { main, separate, parallel, separateParallel, resume, required, issueForm, bmad }
}

function placeOf({ directory }: Context): { top: string; isRepository: boolean } {
  const fix = "go to a project's folder, or name it with -C"
  if (!isFolderSync(directory))
    throw new UserError({ path: directory, found: 'there is no such folder.', expected: '', fix })
  const place = findTop(directory)
  if (!place.isRepository && [homedir(), '/'].includes(directory))
    throw new UserError({
      path: directory,
      found: 'this is your home folder, not a project.',
      expected: '',
      fix,
    })
  return place
}

function pinOf({ pin }: Context['flags']): string | null {
  if (typeof pin !== 'string') return null
  if (/^[0-9a-f]{40}$/.test(pin)) return pin
  const found = `"${oneLine(pin, 80)}"`
  const fix = 'git ls-remote https://github.com/ralph/action v1 prints it'
  throw new UserError({ path: '--pin', found, expected: 'a commit of 40 digits', fix })
}

/** Those of the paths that a .gitignore excludes: `git add` takes them only with --force. */
async function ignoredAmong(top: string, paths: readonly string[], env: Context['env']): Promise<string[]> {
  const options = { directory: top, env: gitEnv(env), accept: [1, 128], input: paths.join('\0') }
  const { stdout } = await execute(['check-ignore', '-z', '--stdin'], options)
  return stdout.split('\0').filter(Boolean)
}

/** Makes a repository with the first branch that the person's git is configured for, else `main`. */
async function makeRepository(top: string, env: Readonly<Record<string, string>>): Promise<void> {
  const options = { directory: top, env: gitEnv(env) }
  const { stdout } = await execute(['config', '--get', 'init.defaultBranch'], { ...options, accept: [1] })
  await execute(['init', '--quiet', '--initial-branch', stdout.trim() || 'main'], options)
}
