// `ralph init`: looks at a folder, asks what it cannot know, and writes workflow, configuration and issue form beside what is there.
import { execute, plainEnv } from '../git/process.ts'
import { type Found, type Settled, settle } from '../init/answers.ts'
import { type Change, CONFIG, compare, filesOf, keysOf } from '../init/files.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { type Answer, type Context, settingsRead, tell } from './context.ts'
import { mistakesIn, personGives, type Standing, standingIn } from './init-given.ts'
import { isHome, look, releasedCommit, textAt, topOf } from './init-look.ts'
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
  const found: Found = { ...(await look(top, isRepository, env)), olderGates: {} }
  const standing = standingIn(top, env)
  say(foundLines(found, shown))

  const settled = settle({ ...standing, person: personGives(context) }, found)
  const mistakes = mistakesIn(settled, standing, env)
  if (mistakes.length > 0) throw new UserError(mistakes)
  const changes = await changesOf({ context, top, found, standing, settled })
  const fresh = changes.filter(({ kind }) => kind === 'new' || kind === 'completed')
  const left = changes.filter(({ kind }) => kind === 'differs')
  if (left.length > 0)
    say(['', 'Left as they are (-), although this would be new (+):', ...(await diffLines(left, env, shown))])
  if (fresh.length > 0) say(['', ...(await diffLines(fresh, env, shown))])
  if (!isRepository) await makeRepository(top, env)
  await writeAll(top, fresh)
  say(closingLines({ changes, found, settled }, shown))
  const files = changes.map(({ path, kind }) => ({ path, kind }))
  return { code: 0, outputs: outputsOf(null, null, null), more: { files, settings: settled.inputs } }
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

type Drafted = { context: Context; top: string; found: Found; standing: Standing; settled: Settled }

async function changesOf({ context, top, found, standing, settled }: Drafted): Promise<Change[]> {
  const { env, flags } = context
  const plan = {
    ...settled,
    setups: found.project.setups,
    keys: keysOf(String(settled.inputs.agent), (name) => (env[name] ?? '') !== ''),
    pin: typeof flags.pin === 'string' ? flags.pin : await releasedCommit(top, env),
  }
  const isOther = standing.configAt !== null && standing.configAt !== CONFIG
  const planned = filesOf(plan, await templates()).filter(({ path }) => !(isOther && path === CONFIG))
  return planned.map((file) => compare(file, textAt(top, file.path)))
}

/** On the branch that the person's own git begins with, else `main`. */
async function makeRepository(top: string, env: Readonly<Record<string, string>>): Promise<void> {
  const options = { directory: top, env: plainEnv(env) }
  const { stdout } = await execute(['config', '--get', 'init.defaultBranch'], { ...options, accept: [1] })
  await execute(['init', '--quiet', '--initial-branch', stdout.trim() || 'main'], options)
}
