// `ralph init`: looks at a folder, asks what it cannot know, and writes workflow, configuration and issue form beside what is there.
import { execute, plainEnv } from '../git/process.ts'
import { type Found, type Settled, settle } from '../init/answers.ts'
import { bmadFiles } from '../init/bmad.ts'
import type { Tree } from '../init/detect.ts'
import { type Change, CONFIG, compare, filesOf, keysOf } from '../init/files.ts'
import { oneLine } from '../model/text.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { type Answer, type Context, settingsRead, tell } from './context.ts'
import { mistakesIn, personGives, type Standing, standingIn } from './init-given.ts'
import { isHome, look, openTree, releasedCommit, textAt, topOf } from './init-look.ts'
import { closingLines, diffLines, foundLines, lookOf } from './init-show.ts'
import { templates } from './init-templates.ts'
import { writeAll } from './init-write.ts'

export async function init(context: Context): Promise<Answer> {
  const { env } = context
  const { top, isRepository } = placeOf(context.directory)
  const shown = lookOf(context)
  const say = (lines: readonly string[]) => {
    for (const line of lines) tell(context.json ? process.stderr : process.stdout, line)
  }
  const read = await settingsRead(context)
  if (!read.ok) throw new UserError(read.mistakes)
  const tree = openTree(top)
  const found = await look(top, tree, isRepository, env)
  const standing = standingIn(top, env)
  say(foundLines(found, shown))

  const isAsking = mayAsk(context)
  let person = personGives(context)
  if (isAsking) {
    const { askAll } = await import('./init-questions.ts')
    const proposed = settle({ ...standing, person }, found).inputs
    const answers = await askAll({ proposed, answered: person, env })
    if (answers === null) return left()
    person = { ...person, ...answers }
  }
  const settled = settle({ ...standing, person }, found)
  const mistakes = mistakesIn(settled, standing, env)
  if (mistakes.length > 0) throw new UserError(mistakes)
  const changes = await changesOf({ context, top, tree, found, standing, settled })
  const fresh = changes.filter(({ kind }) => kind === 'new' || kind === 'completed')
  const differing = changes.filter(({ kind }) => kind === 'differs')
  if (differing.length > 0)
    say([
      '',
      'Left as they are (-), although this would be new (+):',
      ...(await diffLines(differing, env, shown)),
    ])
  if (fresh.length > 0) say(['', ...(await diffLines(fresh, env, shown))])
  if (isAsking && fresh.length > 0) {
    const { askToWrite } = await import('./init-questions.ts')
    if (!(await askToWrite(fresh.length))) return left()
  }
  if (!isRepository) await makeRepository(top, env)
  await writeAll(top, fresh)
  say(closingLines({ changes, settled, isRepository }, shown))
  const files = changes.map(({ path, kind }) => ({ path, kind }))
  return { code: 0, outputs: outputsOf(null, null, null), more: { files, settings: settled.inputs } }
}

/** Only a person at a terminal is asked: a pipe would wait for ever. */
function mayAsk({ flags, json }: Context): boolean {
  return flags.yes !== true && !json && process.stdin.isTTY === true && process.stdout.isTTY === true
}

function left(): Answer {
  tell(process.stderr, 'Nothing was written.')
  return { code: EXIT_CODES.interrupted, outputs: outputsOf(null, 'interrupted', null) }
}

function placeOf(directory: string): { top: string; isRepository: boolean } {
  const place = topOf(directory)
  if (place === null || (!place.isRepository && isHome(directory))) {
    const found = place === null ? 'no folder' : 'your home folder'
    throw new UserError({
      path: directory,
      found,
      expected: "a project's folder",
      fix: 'go to one, or name it with -C',
    })
  }
  return place
}

type Drafted = {
  context: Context
  top: string
  tree: Tree
  found: Found
  standing: Standing
  settled: Settled
}

async function changesOf({ context, top, tree, found, standing, settled }: Drafted): Promise<Change[]> {
  const { env, flags } = context
  const plan = {
    ...settled,
    setups: found.project.setups,
    keys: keysOf(String(settled.inputs.agent), (name) => (env[name] ?? '') !== ''),
    pin: pinOf(flags) ?? (await releasedCommit(top, env)),
  }
  const isOther = standing.configAt !== null && standing.configAt !== CONFIG
  const texts = await templates()
  const planned = filesOf(plan, texts).filter(({ path }) => !(isOther && path === CONFIG))
  if (flags.bmad === true) planned.push(...bmadFiles(tree, String(settled.inputs.agent), texts.bmad))
  return planned.map((file) => compare(file, textAt(top, file.path)))
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
