// What `ralph report` makes pages of, and where it puts them.
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { limitsOf } from '../app/limits.ts'
import { pictureUris } from '../app/pictures.ts'
import { foundPlaces } from '../app/places.ts'
import { placeOfRemote, repositoryUrl } from '../github/place.ts'
import { situationOf } from '../loop/situation.ts'
import { concludedAs } from '../model/job.ts'
import type { State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import { standingWords } from '../report/headline.ts'
import { MOST_PICTURES, picturesWanted, renderReport } from '../report/html/page.ts'
import { type View, viewOf } from '../report/view.ts'
import { clearWay, replaceFile } from '../system/files.ts'
import { type Context, tell } from './context.ts'
import type { LocalRun } from './local.ts'

/** The run as somebody at this clone sees it, without secrets. */
export async function localView(context: Context, local: LocalRun, given: State) {
  const { git, redactor } = local.workspace
  const state = mapTexts(given, redactor.redact)
  const limits = limitsOf(local.settings)
  const lives = state.lease !== null && (await local.alive(state.lease))
  const now = Date.now()
  const situation = situationOf(state, limits, now, lives)
  const outcome = situation.kind === 'ended' ? situation.conclusion.outcome : null
  const notes = lives ? ['A job works on it now: this page shows the last state that it saved.'] : []
  const facts = {
    repositoryUrl: webAddress(context, local),
    runUrl: state.lease?.url ?? null,
    limits,
    now,
    notes,
    annotations: await foundPlaces(git, state).catch(() => ({})),
    surface: 'cli' as const,
  }
  // An attempt that a dead process has left is nobody's work.
  const shown = lives
    ? state
    : concludedAs({ ...state, attempts: {} }, situation.kind === 'ended' ? situation.conclusion : null)
  const view = viewOf(shown, facts, situation)
  const text = standingWords(state, situation)
  const headline = situation.kind === 'ready' ? { sign: '⏯️', text } : view.headline
  return { view: { ...view, headline }, outcome }
}

export async function reportPage({ workspace }: LocalRun, view: View): Promise<string> {
  const { store } = workspace
  const read = (blob: string) => store.readScreenshot(blob)
  return renderReport(view, await pictureUris(picturesWanted(view), read, MOST_PICTURES))
}

/** Empty where the clone's remote has no page that we know. */
function webAddress({ env }: Context, { workspace: { clone } }: LocalRun): string {
  const server = env.GITHUB_SERVER_URL?.replace(/\/+$/, '') || 'https://github.com'
  const place = placeOfRemote(clone.config.get('remote.origin.url') ?? '', { [server]: '' })
  return place === null ? '' : repositoryUrl({ ...place, defaultBranch: '' })
}

/** The path of the file: the one that was asked for, or `name` in Ralph's own folder. */
export async function written(
  { flags, directory }: Context,
  { workspace }: LocalRun,
  name: string,
  text: string,
): Promise<string> {
  const own = join(workspace.clone.gitDir, 'ralph', 'report', name)
  const path = typeof flags.output === 'string' ? resolve(directory, flags.output) : own
  if (path === own) await clearWay(workspace.clone.gitDir, path)
  else await mkdir(dirname(path), { recursive: true })
  await replaceFile(path, text)
  return path
}

/** Says where it lies, and opens it where somebody looks. */
export function show({ json, flags }: Context, path: string): void {
  tell(json ? process.stderr : process.stdout, path)
  if (flags.open !== true) return
  if (process.stdout.isTTY !== true || json) {
    tell(process.stderr, 'warning: --open: this is no terminal, so nobody would see it')
    return
  }
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const browser = spawn(program, [pathToFileURL(path).href], { detached: true, stdio: 'ignore' })
  browser.on('error', () =>
    tell(process.stderr, `warning: --open: ${program} cannot be run; open it yourself`),
  )
  browser.unref()
}
