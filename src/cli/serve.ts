// `ralph serve`: the status of runs as a web page that only this machine can open. It is updated by server-sent events. Only reads.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pictureUris } from '../app/report-pictures.ts'
import { indexPage, liveBody, liveHead, renderIndex, renderLivePart } from '../report/html/live-page.ts'
import {
  contentSecurityPolicy,
  type Live,
  MAX_PICTURES,
  pictureBlobs,
  renderReport,
} from '../report/html/report-page.ts'
import { type LiveView, liveViewOf, type WatchedRun } from '../report/live-view.ts'
import { outputsOf } from '../report/outputs.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { type CommandResult, type Context, onSignals, settingsOf } from './command-context.ts'
import { follow, openSource } from './monitor.ts'
import type { Source } from './monitor-source.ts'

export async function serve(context: Context): Promise<CommandResult> {
  const port = portIn(context.flags.port)
  const { settings } = await settingsOf(context)
  using source = await openSource(context, settings)
  const site = new Site(source, await source.look())
  const stop = new AbortController()
  const release = onSignals(stop, () => {})
  const server = createServer((request, response) => site.answer(request, response))
  try {
    await listen(server, port)
    const url = site.open(server)
    context.print(
      `${url}\nAnyone on this machine who has this address can read the page. Press Ctrl+C to stop.`,
    )
    await follow(source, stop.signal, (watched, error) => site.update(watched, error))
    return { code: 0, outputs: outputsOf(null, null, null), more: { url } }
  } finally {
    release()
    site.close()
    server.closeAllConnections()
    server.close()
  }
}

function portIn(value: Context['flags'][string]): number {
  const port = value === undefined ? 0 : Number(value)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UserError({
    path: '--port',
    found: String(value),
    expected: 'a number from 1 to 65535',
    fix: 'leave it out to use a free port',
  })
}

async function listen(server: Server, port: number): Promise<void> {
  // Only this machine can connect.
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: unknown) => {
    const fix = 'name another one, or leave --port out to use a free port'
    throw new UserError({
      path: '--port',
      found: `the port cannot be used: ${messageOf(error)}`,
      expected: '',
      fix,
    })
  })
}

/** An open page: `live` is what it was sent last, `reported` the run that its report shows. */
type Follower = {
  feature: string | null
  response: ServerResponse
  live: string
  reported: WatchedRun | null
}

class Site {
  /** A part of the address. Other users of this machine can reach the port as well, but do not know it. */
  readonly #token = randomBytes(24).toString('base64url')
  readonly #source: Source
  readonly #followers = new Set<Follower>()
  #watched: readonly WatchedRun[]
  #hosts: readonly string[] = []
  #wrong = ''

  constructor(source: Source, first: readonly WatchedRun[]) {
    this.#source = source
    this.#watched = first
  }

  /** The page's address. */
  open(server: Server): string {
    const { port } = server.address() as AddressInfo
    this.#hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    return `http://127.0.0.1:${port}/${this.#token}/`
  }

  /** Takes the runs of a new look, null if it failed, and updates the open pages. */
  update(watched: readonly WatchedRun[] | null, error: string): void {
    this.#watched = watched ?? this.#watched
    this.#wrong = error
    for (const follower of this.#followers) this.#tell(follower)
  }

  close(): void {
    for (const { response } of this.#followers) response.end()
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const [, token = '', ...path] = (request.url ?? '').split('?')[0]?.split('/') ?? []
    const refuse = (status: number, words: string, headers = {}) =>
      response
        .writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8', ...headers })
        .end(`${words}\n`)
    const asked = this.#asked(path)
    // Another host name means that another site's owner has pointed its name at this machine (DNS rebinding).
    if (!this.#hosts.includes(request.headers.host ?? ''))
      refuse(421, 'This server does not answer to that host name.')
    else if (request.method !== 'GET') refuse(405, 'Only GET.', { allow: 'GET' })
    else if (!isSame(token, this.#token) || asked === null) refuse(404, 'Nothing is here.')
    else if (asked.isEvents) this.#follow(request, response, asked.feature)
    else this.#page(response, asked.feature).catch(() => response.destroy())
  }

  /** What a path after the token asks for: `/`, `/events`, `/f/auth/` or `/f/auth/events`. `feature` null: the list of all. */
  #asked(path: readonly string[]): { feature: string | null; isEvents: boolean } | null {
    const last = path.at(-1)
    if (last !== '' && last !== 'events') return null
    const isEvents = last === 'events'
    const only = this.#watched.length === 1 ? this.#watched[0] : undefined
    if (path.length === 1) return { feature: only?.state.feature ?? null, isEvents }
    const [folder, name] = path
    const found = this.#watched.find(({ state }) => encodeURIComponent(state.feature) === name)
    if (path.length !== 3 || folder !== 'f' || found === undefined) return null
    return { feature: found.state.feature, isEvents }
  }

  async #page(response: ServerResponse, feature: string | null): Promise<void> {
    const nonce = randomBytes(16).toString('base64')
    const live = { nonce, head: liveHead(nonce) }
    const watched = this.#watched.find(({ state }) => state.feature === feature)
    const text =
      watched === undefined ? indexPage(this.#views(), live, this.#note()) : await this.#report(watched, live)
    const policy = `${contentSecurityPolicy(live)}; frame-ancestors 'none'`
    const type = 'text/html; charset=utf-8'
    const headers = { ...HEADERS, 'content-type': type, 'content-security-policy': policy }
    response.writeHead(200, headers).end(text)
  }

  /** The live part with the report below it. */
  async #report(watched: WatchedRun, live: Omit<Live, 'body'>): Promise<string> {
    const view = liveViewOf(watched, Date.now())
    const body = liveBody(renderLivePart(view), this.#note())
    const read = (blob: string) => this.#source.picture(blob)
    const pictures = await pictureUris(pictureBlobs(view), read, MAX_PICTURES)
    return renderReport(view, pictures, { ...live, body })
  }

  #follow(request: IncomingMessage, response: ServerResponse, feature: string | null): void {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    const follower: Follower = { feature, response, live: '', reported: null }
    this.#followers.add(follower)
    request.on('close', () => this.#followers.delete(follower))
    this.#tell(follower)
  }

  /** Sends a page what is new to it. */
  #tell(follower: Follower): void {
    const { feature, response } = follower
    const watched = this.#watched.find(({ state }) => state.feature === feature)
    const part =
      watched === undefined ? renderIndex(this.#views()) : renderLivePart(liveViewOf(watched, Date.now()))
    const live = JSON.stringify({ html: part.toString(), note: this.#note() })
    const { reported } = follower
    // States are compared as objects: a change makes a new one.
    const isOther =
      reported !== null &&
      (watched?.state !== reported.state || watched.situation.kind !== reported.situation.kind)
    // Sent first, because the page then loads the whole report again, and its live part with it.
    if (isOther) response.write('event: report\ndata: {}\n\n')
    if (live !== follower.live) response.write(`event: live\ndata: ${live}\n\n`)
    follower.live = live
    follower.reported = watched ?? null
  }

  #views(): LiveView[] {
    return this.#watched.map((one) => liveViewOf(one, Date.now()))
  }

  #note(): string {
    return this.#wrong || this.#source.note()
  }
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}

const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}
