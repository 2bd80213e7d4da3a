// `ralph upgrade`: shows the newest release and its changes, and moves the pins in workflows and package.json to it.
import { join } from 'node:path'
import { ACTION, isNewer, PACKAGE, VERSION } from '../engine/model/version.ts'
import { connect, githubMessage, httpStatusOf, rateLimitedUntil } from '../github/client.ts'
import { type Release, releasesOf } from '../github/releases.ts'
import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { outputsOf } from '../report/outputs.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import { ACTIONS_LOCK, LOCK_FIX } from '../setup/actions-lock.ts'
import type { FileChange } from '../setup/init/init-files.ts'
import { actionPins, type Pin, type Pinned, packagePins } from '../setup/init/release-pins.ts'
import { formatMistake, type Mistake, messageOf, UserError } from '../system/errors.ts'
import { isFolder, namesIn } from '../system/files.ts'
import {
  type CommandResult,
  type Context,
  findTop,
  interruptedResult,
  printLines,
  refuseFromInside,
} from './command-context.ts'
import { tokenFor } from './github-token.ts'
import { diffLines } from './init-show.ts'
import { Cancelled, terminalPrompts } from './terminal-questions.ts'
import { readText, writeFiles } from './write-files.ts'

const WORKFLOWS = '.github/workflows'
/** The maximum number of lines of a release's notes that are shown. */
const MAX_NOTE_LINES = 60

type PinnedFile = { path: string; text: string; pinned: Pinned }

export async function upgrade(context: Context): Promise<CommandResult> {
  refuseFromInside(context)
  const { top } = findTop(context.directory)
  const requested = requestedTag(context)
  const files = await filesWithPins(context, top)
  const pins = files.flatMap(({ path, pinned }) => pinned.pins.map((pin) => ({ path, ...pin })))
  const releases = await releasesOrMistake(context)
  if ('mistake' in releases) return noReleases(context, releases.mistake, pins)
  const target = targetOf(releases, requested)
  const { tag } = target
  const { print } = context
  print([...headLines(target), ...releaseNoteLines(releases, target, oldestOf(pins))].join('\n'))
  for (const pin of pins.filter(({ kind }) => kind === 'none'))
    context.warn(
      `${pin.path}:${pin.line} names ${terminalText(pin.ref, 80)}, which is not a release, so Ralph leaves it unchanged`,
    )
  const changes = changesTo(files, target)
  const more = { version: VERSION, target: tag, pins, changed: changes.map(({ path }) => path) }
  const resultOf = (written: boolean): CommandResult => {
    const outputs = outputsOf(null, null, null)
    return { code: 0, outputs, more: { ...more, written } }
  }
  if (changes.length === 0) {
    print(nothingToMove(pins, tag))
    return resultOf(false)
  }
  const look = lookOf(context.out, context.env.NO_COLOR !== undefined)
  print(['', ...(await diffLines(changes, context.env, look))].join('\n'))
  const isConfirmed = await confirmWrite(context, changes.length)
  if (isConfirmed === null) return interruptedResult()
  if (!isConfirmed) {
    print(`\nNothing was written. To write these changes: ralph upgrade ${tag} --yes`)
    return resultOf(false)
  }
  await writeFiles(top, Object.fromEntries(changes.map(({ path, text }) => [path, text])))
  print(writtenLines(changes).join('\n'))
  if ((await readText(top, ACTIONS_LOCK)) !== null)
    print(`\n${ACTIONS_LOCK} still has the older version, so no job would start: ${LOCK_FIX}.`)
  return resultOf(true)
}

/** The tag of the version on the command line; null if there is none. */
function requestedTag({ args }: Context): string | null {
  const [word, ...more] = args?.words ?? []
  if (word === undefined) return null
  const tag = `v${word.replace(/^v/, '')}`
  if (more.length === 0 && /^v\d+\.\d+\.\d+$/.test(tag)) return tag
  const found = `"${terminalText([word, ...more].join(' '), 80)}"`
  const fix = 'for the newest version, type ralph upgrade; for another one, ralph upgrade 1.2.3'
  throw new UserError({ path: 'ralph upgrade', found, expected: 'one version, such as 1.2.3', fix })
}

/** The workflows and package.json that name the action or the package. Warns of a file that is not valid YAML or JSON. */
async function filesWithPins({ warn }: Context, top: string): Promise<PinnedFile[]> {
  const folder = join(top, WORKFLOWS)
  const names = (await isFolder(folder)) ? await namesIn(folder) : []
  const workflows = names.filter((name) => /\.ya?ml$/.test(name)).sort()
  const paths = [...workflows.map((name) => `${WORKFLOWS}/${name}`), 'package.json']
  const files = await Promise.all(
    paths.map(async (path) => {
      const text = await readText(top, path)
      if (text === null || !text.includes(path === 'package.json' ? PACKAGE : ACTION)) return []
      const pinned = path === 'package.json' ? packagePins(text) : actionPins(text)
      if (pinned !== null) return pinned.pins.length === 0 ? [] : [{ path, text, pinned }]
      warn(`${path} cannot be read, so Ralph leaves it unchanged`)
      return []
    }),
  )
  return files.flat()
}

type Releases = readonly Release[]

async function releasesOrMistake({ env, warn }: Context): Promise<Releases | { mistake: Mistake }> {
  const server = env.GITHUB_SERVER_URL?.replace(/\/+$/, '') || 'https://github.com'
  const api = env.GITHUB_API_URL?.replace(/\/+$/, '') || 'https://api.github.com'
  const [owner = '', repo = ''] = ACTION.split('/')
  const token = await tokenFor(server, env)
  const place = { owner, repo, server, api, defaultBranch: 'main' }
  const page = `${server}/${ACTION}/releases`
  const path = `the releases of ${ACTION}`
  try {
    const releases = await releasesOf(connect(place, token, warn))
    if (releases.length > 0) return releases
    const found = `there is no release at ${page} yet.`
    return { mistake: { path, found, expected: '', fix: 'wait for the first release' } }
  } catch (error) {
    const status = httpStatusOf(error)
    const found =
      status === null || status >= 500 ? unreachable(api, error) : `${status}: ${githubMessage(error)}`
    const fix =
      rateLimitedUntil(error, Date.now()) !== null || token === null
        ? 'check the network. If GitHub refused because of its rate limit, log in with GH_TOKEN or `gh auth login`'
        : 'check the network, and that the token (GH_TOKEN, or that of `gh auth login`) is valid'
    return {
      mistake: { path, found, expected: '', fix: `${fix}; releases are also listed at ${page}` },
    }
  }
}

function unreachable(api: string, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return `no answer from ${api} (${terminalText(messageOf(cause), 200)})`
}

function noReleases({ redact }: Context, mistake: Mistake, pins: readonly unknown[]): CommandResult {
  printLines(process.stderr, `error: ${redact(formatMistake(mistake))}\nNothing was changed.`)
  return {
    code: 1,
    outputs: outputsOf(null, null, null),
    more: { version: VERSION, pins, errors: [mistake] },
  }
}

/** The requested release; the newest if none is requested. */
function targetOf(releases: Releases, requested: string | null): Release {
  const target = requested === null ? releases[0] : releases.find(({ tag }) => tag === requested)
  if (target !== undefined) return target
  const newest = releases.slice(0, 5).map(({ tag }) => tag)
  const found = `there is no release ${requested}; the newest are ${newest.join(', ')}.`
  const fix = `ralph upgrade ${newest[0]}`
  throw new UserError({ path: 'ralph upgrade', found, expected: '', fix })
}

/** The oldest version that a pin names. If no pin names a version, this program's version. */
function oldestOf(pins: readonly Pin[]): string {
  const tags = pins.flatMap(({ tag }) => (tag === null ? [] : [tag]))
  return tags.sort((a, b) => (isNewer(a, b) ? 1 : -1))[0] ?? `v${VERSION}`
}

function headLines({ tag, publishedAt }: Release): string[] {
  const comparison = isNewer(tag, VERSION)
    ? `is version ${VERSION}. To run the new one: npx ${PACKAGE}@${tag.slice(1)}`
    : `is version ${VERSION}, so it needs no upgrade.`
  return [`Release ${tag} is from ${publishedAt.slice(0, 10)}. This program ${comparison}`]
}

function releaseNoteLines(releases: Releases, target: Release, since: string): string[] {
  const between = releases.filter(({ tag }) => isNewer(tag, since) && !isNewer(tag, target.tag))
  if (between.length === 0) return []
  return [
    '',
    `What changes since ${since}:`,
    ...between.flatMap(({ tag, notes, publishedAt }) => {
      const lines = notes.split(/\r?\n/).map((line) => terminalText(line, 300))
      const listed = lines.filter((line) => line.trim() !== '').slice(0, MAX_NOTE_LINES)
      return ['', `${tag} (${publishedAt.slice(0, 10)})`, ...listed.map((line) => `  ${line}`)]
    }),
  ]
}

function changesTo(files: readonly PinnedFile[], target: Release): FileChange[] {
  return files.flatMap(({ path, text: before, pinned }) => {
    const text = pinned.movedTo(target)
    return text === before ? [] : [{ path, text, before, kind: 'completed' as const }]
  })
}

function nothingToMove(pins: readonly Pin[], tag: string): string {
  if (pins.length === 0)
    return `\nThis project does not use ${ACTION} or ${PACKAGE} yet. To set it up: npx ${PACKAGE}@${tag.slice(1)} init`
  if (pins.every(({ kind }) => kind === 'none')) return '\nNothing to upgrade.'
  const hasMajorPin = pins.some(({ kind }) => kind === 'major')
  const majorPin = hasMajorPin ? ', or its major version, which always follows the newest release' : ''
  return `\nNothing to upgrade: this project already uses ${tag}${majorPin}.`
}

/** Whether the files may be written. Null if the person cancelled; false without a terminal. */
async function confirmWrite(context: Context, count: number): Promise<boolean | null> {
  if (context.flags.yes === true) return true
  const ask = context.json ? null : terminalPrompts(context)
  if (ask === null) return false
  try {
    return await ask.yes(`Write ${count === 1 ? 'this file' : `these ${pluralize(count, 'file')}`}?`, true)
  } catch (error) {
    if (error instanceof Cancelled) return null
    throw error
  }
}

function writtenLines(changes: readonly FileChange[]): string[] {
  const paths = changes.map(({ path }) => path)
  const lock = paths.includes('package.json')
    ? ['To update the lockfile, install again: npm install (or pnpm, yarn, bun).']
    : []
  return [
    '',
    `Written: ${paths.join(', ')}`,
    ...lock,
    `git add ${paths.join(' ')} && git commit -m "ci: Ralph"`,
  ]
}
