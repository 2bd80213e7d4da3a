// `ralph init`: looks at a folder, asks what it cannot know, and writes workflow, configuration and issue form beside what is there.

import { defaultAgent, findAgent } from '../agents/registry.ts'
import { execute, plainEnv } from '../git/process.ts'
import { type Found, settle, type Written } from '../init/answers.ts'
import { bmadFiles } from '../init/bmad.ts'
import { type Change, CONFIG, compare, filesOf, keysOf, WORKFLOW } from '../init/files.ts'
import { oneLine } from '../model/text.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { findProgram } from '../system/program.ts'
import type { Look } from '../terminal/line.ts'
import { type Answer, type Context, settingsRead, tell } from './context.ts'
import { mistakesIn, personGives, type Standing, standingIn } from './init-given.ts'
import {
  ignoredAmong,
  isHome,
  look,
  openTree,
  type Place,
  releasedCommit,
  textAt,
  topOf,
} from './init-look.ts'
import { closingLines, diffLines, foundLines, lookOf, warningsOn } from './init-show.ts'
import { templates } from './init-templates.ts'
import { detours, writeAll } from './init-write.ts'

export async function init(context: Context): Promise<Answer> {
  if (context.flags.notify === true)
    return (await import(/* webpackChunkName: "work" */ './init-notify.ts')).initNotify(context)
  const { env } = context
  const { top, isRepository } = placeOf(context)
  const shown = lookOf(context)
  const say = (lines: readonly string[]) => {
    for (const line of lines) tell(context.json ? process.stderr : process.stdout, line)
  }
  const read = await settingsRead(context)
  if (!read.ok) throw new UserError(read.mistakes)
  const place = { top, isRepository, tree: openTree(top), workingDirectory: read.settings.workingDirectory }
  const found = await look(place, env)
  const standing = standingIn(top, env)
  const { agent } = { ...standing.config, ...standing.workflow, ...personGives(context) }
  say(foundLines(found, agent === undefined ? null : String(agent), shown))

  const draft: Draft = {
    ...place,
    env,
    found,
    standing,
    pin: pinOf(context.flags) ?? (await releasedCommit(top, env)),
    bmad: context.flags.bmad === true,
  }
  const answers = mayAsk(context) ? await ask(draft, personGives(context)) : { person: personGives(context) }
  if (answers === null) return left()
  const { settled, changes } = await drafted(draft, answers.person)
  refuse(mistakesIn(settled, draft.standing, env))
  const fresh = changes.filter(isWritten)
  say(await proposed(changes, env, shown))
  if (mayAsk(context) && fresh.length > 0) {
    const { askToWrite } = await import(/* webpackChunkName: "work" */ './init-questions.ts')
    if (!(await askToWrite(fresh.length))) return left()
  }
  if (!isRepository) await makeRepository(top, env)
  await writeAll(top, fresh)
  const ignored = await ignoredAmong(
    top,
    changes.map(({ path }) => path),
    env,
  )
  const done = { changes, settled, isRepository, ignored }
  say(closingLines(done, shown))
  const files = changes.map(({ path, kind }) => ({ path, kind }))
  const more = { files, settings: settled.inputs, warnings: warningsOn(done) }
  return { code: 0, outputs: outputsOf(null, null, null), more }
}

type Draft = Place & {
  env: Context['env']
  found: Found
  standing: Standing
  /** The commit of the action. */
  pin: string | null
  bmad: boolean
}

/** What would be written with these answers, beside what is there. */
async function drafted({ top, tree, env, found, standing, pin, bmad }: Draft, person: Written) {
  const settled = settle({ ...standing, person }, found)
  const agent = String(settled.inputs.agent)
  const keys = keysOf(agent, (name) => (env[name] ?? '') !== '')
  const isOther = standing.configAt !== null && standing.configAt !== CONFIG
  const texts = await templates()
  const planned = filesOf({ ...settled, keys, pin, setups: found.project.setups }, texts)
  const files = planned.filter(({ path }) => !(isOther && path === CONFIG))
  // BMAD is made for the first of them.
  const places = [...new Set([defaultAgent, agent])].flatMap((name) => findAgent(name)?.slashCommands ?? [])
  if (bmad) files.push(...bmadFiles(tree, places, texts.bmad))
  refuse(
    detours(
      top,
      files.map(({ path }) => path),
    ),
  )
  return { settled, changes: files.map((file) => compare(file, textAt(top, file.path))) }
}

function isWritten({ kind }: Change): boolean {
  return kind === 'new' || kind === 'completed'
}

/** Asks for what no flag says; null where the person left. Where workflow and configuration are there, no answer has a place. */
async function ask(draft: Draft, person: Written): Promise<{ person: Written } | null> {
  const { settled, changes } = await drafted(draft, person)
  const isNew = changes.some(({ path, kind }) => kind === 'new' && [CONFIG, WORKFLOW].includes(path))
  if (!isNew) return { person }
  const { askAll } = await import(/* webpackChunkName: "work" */ './init-questions.ts')
  const answers = await askAll({
    proposed: settled.inputs,
    answered: person,
    here: draft.found.here,
    env: draft.env,
  })
  return answers === null ? null : { person: { ...person, ...answers } }
}

/** The diff of what would be written, below that of what is left. */
async function proposed(changes: readonly Change[], env: Context['env'], shown: Look): Promise<string[]> {
  const differing = changes.filter(({ kind }) => kind === 'differs')
  const fresh = changes.filter(isWritten)
  return [
    ...(differing.length > 0 ? ['', 'Left as they are (-), although this would be new (+):'] : []),
    ...(differing.length > 0 ? await diffLines(differing, env, shown) : []),
    ...(fresh.length > 0 ? ['', ...(await diffLines(fresh, env, shown))] : []),
  ]
}

function refuse(mistakes: readonly Mistake[]): void {
  if (mistakes.length > 0) throw new UserError(mistakes)
}

/** Only a person at a terminal is asked: a pipe would wait for ever. */
function mayAsk({ flags, json }: Context): boolean {
  return flags.yes !== true && !json && process.stdin.isTTY === true && process.stdout.isTTY === true
}

function left(): Answer {
  tell(process.stderr, 'Nothing was written.')
  return { code: EXIT_CODES.interrupted, outputs: outputsOf(null, 'interrupted', null) }
}

function placeOf({ directory, env }: Context): { top: string; isRepository: boolean } {
  const place = topOf(directory)
  const expected = "a project's folder"
  const fix = 'go to one, or name it with -C'
  if (place === null) throw new UserError({ path: directory, found: 'no folder', expected, fix })
  if (!place.isRepository && isHome(directory))
    throw new UserError({ path: directory, found: 'your home folder', expected, fix })
  if (findProgram('git', env.PATH ?? '') === null)
    throw new UserError({ path: 'git', found: 'no git on the PATH', expected: 'git', fix: 'install git' })
  return place
}

function pinOf({ pin }: Context['flags']): string | null {
  if (typeof pin !== 'string') return null
  if (/^[0-9a-f]{40}$/.test(pin)) return pin
  const fix = 'git ls-remote https://github.com/ralph/action v1 prints it'
  throw new UserError({
    path: '--pin',
    found: `"${oneLine(pin, 80)}"`,
    expected: 'a commit of 40 digits',
    fix,
  })
}

/** On the branch that the person's own git begins with, else `main`. */
async function makeRepository(top: string, env: Readonly<Record<string, string>>): Promise<void> {
  const options = { directory: top, env: plainEnv(env) }
  const { stdout } = await execute(['config', '--get', 'init.defaultBranch'], { ...options, accept: [1] })
  await execute(['init', '--quiet', '--initial-branch', stdout.trim() || 'main'], options)
}
