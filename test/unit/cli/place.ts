// A small repository with stories, a scripted agent and the CLI: as it stands in src, or where `npm test` has bundled it.
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Clone, type Ended, openClone } from '../../fakes/clone.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
/** `npm test` has just built the bundle out of src, and names it here: it starts in half the processor time. */
export const MAIN = process.env.RALPH_CLI ?? join(ROOT, 'test', 'start', 'cli.ts')
/** For the environment of a CLI: what Node has compiled for one serves the next, where tests are run with a cache. */
export const COMPILED: Readonly<Record<string, string>> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
export const FEATURE = 'sample'
export const FOLDER = `.ralph/2026-01-31-${FEATURE}`

export type { Ended }

export type Turn = {
  files?: Record<string, string>
  shell?: string
  say?: string
  exit?: number
  hang?: boolean
}
/** What the agent does for a story, turn by turn; `verify` is the judge. */
export type Script = Record<string, Turn[]>

export type Place = Clone & {
  ralph(...args: string[]): Promise<Ended>
  /** The one line of `--json`. */
  json(...args: string[]): Promise<Record<string, unknown>>
  /** Every ref of the repository with its commit: what a command that only looks leaves as it was. */
  refs(): string
}

export type Story = { id: string } & Record<string, unknown>

/** A repository on `main` whose only commit holds the stories. */
export async function openPlace(
  stories: readonly Story[],
  files: Record<string, string> = {},
): Promise<Place> {
  const userStories = stories.map((story) => ({
    title: `part ${story.id}`,
    acceptanceCriteria: [`${story.id} works`],
    ...story,
  }))
  const prd = { [`${FOLDER}/prd.json`]: JSON.stringify({ schemaVersion: 2, userStories }) }
  const clone = await openClone(MAIN, { ...prd, ...files }, COMPILED)
  const place: Place = Object.assign(clone, {
    ralph: (...args: string[]) => clone.start(args).ended,
    json: async (...args: string[]) => JSON.parse((await place.ralph(...args, '--json')).out),
    refs: () => clone.git('for-each-ref', '--format=%(refname) %(objectname)'),
  })
  return place
}

/** Waits until the file is there. */
export async function made(file: string): Promise<void> {
  const watcher = watch(dirname(file))
  while (!existsSync(file)) await once(watcher, 'change')
  watcher.close()
}

export const good = (id: string): Turn => ({ files: { [`src/${id}.txt`]: `good ${id}\n` } })
export const bad = (id: string): Turn => ({ files: { [`src/${id}.txt`]: `bad ${id}\n` } })
/** A gate that fails where a file is bad. */
export const GATE = ['--gate', 'good=! grep -rq bad src']
