// `ralph serve`: how runs stand, as a page on this machine alone, which follows by server-sent events. Only reads.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pictureUris } from '../app/report-pictures.ts'
import { indexPage, liveBody, liveHead, renderIndex, renderLivePart } from '../report/html/live-page.ts'
import {
  contentSecurityPolicy,
  type Live,
  MOST_PICTURES,
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
    await listening(server, port)
    const url = site.open(server)
    context.say(`${url}\nCtrl+C ends it; whoever has this address can read what the page shows.`)
    await follow(source, stop.signal, (watched, wrong) => site.seen(watched, wrong))
    return { code: 0, outputs: outputsOf(null, null, null), more: { url } }
  } finally {
    release()
    site.close()
    server.closeAllConnections()
    server.close()
  }
}

function portIn(given: Context['flags'][string]): number {
  const port = given === undefined ? 0 : Number(given)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UserError({
    path: '--port',
    found: String(given),
    expected: 'a number from 1 to 65535',
    fix: 'leave it out for one that is free',
  })
}

async function listening(server: Server, port: number): Promise<void> {
  // Only this machine can connect.
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: unknown) => {
    const fix = 'name another one, or leave --port out for one that is free'
    throw new UserError({ path: '--port', found: messageOf(error), expected: 'a port that is free', fix })
  })
}

/** A page that follows, what it was sent last, and what its report was made from. */
type Follower = { feature: string | null; response: ServerResponse; live: string; seen: WatchedRun | null }

class Site {
  /** Other users of this machine reach the port, too: only who knows this part of the address is answered. */
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

  /** What a further look has brought; null where it failed. */
  seen(watched: readonly WatchedRun[] | null, wrong: string): void {
    this.#watched = watched ?? this.#watched
    this.#wrong = wrong
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
    // A name that leads here is another site's, which its owner has pointed at this machine.
    if (!this.#hosts.includes(request.headers.host ?? '')) refuse(421, 'Nothing is here under that name.')
    else if (request.method !== 'GET') refuse(405, 'Only GET.', { allow: 'GET' })
    else if (!isSame(token, this.#token) || asked === null) refuse(404, 'Nothing is here.')
    else if (asked.isEvents) this.#follow(request, response, asked.feature)
    else this.#page(response, asked.feature).catch(() => response.destroy())
  }

  /** `/`, `/events`, `/f/auth/` or `/f/auth/events`, behind the token; `feature` null: the list of all. */
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
    const pictures = await pictureUris(pictureBlobs(view), read, MOST_PICTURES)
    return renderReport(view, pictures, { ...live, body })
  }

  #follow(request: IncomingMessage, response: ServerResponse, feature: string | null): void {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    const follower: Follower = { feature, response, live: '', seen: null }
    this.#followers.add(follower)
    request.on('close', () => this.#followers.delete(follower))
    this.#tell(follower)
  }

  /** Only what is new to that page. */
  #tell(follower: Follower): void {
    const { feature, response } = follower
    const watched = this.#watched.find(({ state }) => state.feature === feature)
    const part =
      watched === undefined ? renderIndex(this.#views()) : renderLivePart(liveViewOf(watched, Date.now()))
    const live = JSON.stringify({ html: part.toString(), note: this.#note() })
    const { seen } = follower
    // By the object that the state is, which a change replaces.
    const isOther =
      seen !== null && (watched?.state !== seen.state || watched.situation.kind !== seen.situation.kind)
    // Said first: the page asks for all of it then, and shows what is live with its new head.
    if (isOther) response.write('event: report\ndata: {}\n\n')
    if (live !== follower.live) response.write(`event: live\ndata: ${live}\n\n`)
    follower.live = live
    follower.seen = watched ?? null
  }

  #views(): LiveView[] {
    return this.#watched.map((one) => liveViewOf(one, Date.now()))
  }

  #note(): string {
    return this.#wrong || this.#source.note()
  }
}

/** In a time that tells nothing of where they differ. */
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
