// The results service, as far as artifacts go: three requests of a job. A simulation of ours; what the real client asks it is
// recorded (scripts/record-artifact.mjs), what it answers follows that client's own description of the service.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const coded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A job's token, without a signature that anybody looks at. */
export function newRuntimeToken(run: string, job: string = randomUUID()): string {
  return `${coded({ alg: 'none' })}.${coded({ scp: `Actions.Example Actions.Results:${run}:${job}` })}.${randomUUID()}`
}

/** Of the run that is recorded. */
const RUN = 'ce7f54c7-61c7-4aae-887f-30da475f5f1a'
export const runtimeToken = newRuntimeToken(RUN, 'ca395085-040a-526b-2ce8-bdc85f692774')

/** A request, with what differs from run to run as a word in brackets. */
export type Asked = { method: string; path: string; headers: Record<string, string>; body: unknown }
type Answer = { status: number; headers: Record<string, string>; body: string }

const TOLD = ['content-type', 'x-ms-blob-type', 'x-ms-blob-content-type']
const HIDDEN: Record<string, string> = { expires_at: '<time>', size: '<size>', hash: '<hash>' }

export class ResultsService {
  readonly asked: Asked[] = []
  /** Those that were finalized, by run and name: `<run>/ralph-auth-7-1`. */
  readonly artifacts = new Map<string, Buffer>()
  /** What requests of that name get instead of an answer. */
  readonly faults = new Map<'CreateArtifact' | 'blob' | 'FinalizeArtifact', number>()
  readonly #blobs = new Map<string, Buffer>()

  answer(method: string, url: URL, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
    const what = url.pathname.split('/').at(-1) ?? ''
    const part = url.searchParams.get('comp')
    this.asked.push({
      method,
      path: part === null ? url.pathname : `${url.pathname}?comp=${part}`,
      headers: Object.fromEntries(
        TOLD.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
      ),
      body: what === 'blob' ? '<zip>' : bodyTold(bytes),
    })
    const fault = [...this.faults].find(([name]) => name === what)?.[1]
    if (fault !== undefined) return json(fault, { msg: 'out of order' })
    return what === 'blob' ? this.#store(url, headers, bytes) : this.#speak(what, url, headers, bytes)
  }

  /** One block and the list of it, as the real client sends them, or the blob as a whole. */
  #store({ searchParams }: URL, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
    const [part, key] = [searchParams.get('comp'), searchParams.get('sig') ?? '']
    if (part === null && headers['x-ms-blob-type'] !== 'BlockBlob') return json(400, {})
    if (!this.#blobs.has(key)) return json(403, {})
    const before = this.#blobs.get(key) ?? Buffer.alloc(0)
    if (part !== 'blocklist') this.#blobs.set(key, part === 'block' ? Buffer.concat([before, bytes]) : bytes)
    return { status: 201, headers: { etag: '"0x1"', 'last-modified': new Date(0).toUTCString() }, body: '' }
  }

  #speak(what: string, { origin }: URL, { authorization = '' }: IncomingHttpHeaders, bytes: Buffer): Answer {
    const given: Record<string, unknown> = JSON.parse(bytes.toString())
    const { workflow_run_backend_id: run, workflow_job_run_backend_id: job, name, size, hash } = given
    const claims = Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()
    if (!claims.includes(`Actions.Results:${run}:${job}"`)) return json(401, { msg: 'unauthorized' })
    const key = `${run}/${name}`
    if (what === 'CreateArtifact') {
      if (this.artifacts.has(key))
        return json(409, { msg: 'an artifact with this name already exists on the workflow run' })
      this.#blobs.set(key, Buffer.alloc(0))
      return json(200, {
        ok: true,
        signed_upload_url: `${origin}/_services/container/blob?sig=${encodeURIComponent(key)}`,
      })
    }
    const blob = this.#blobs.get(key) ?? Buffer.alloc(0)
    const isWhole =
      Number(size) === blob.length && hash === `sha256:${createHash('sha256').update(blob).digest('hex')}`
    if (isWhole) this.artifacts.set(key, blob)
    return json(200, { ok: isWhole, artifact_id: '4711' })
  }
}

function json(status: number, body: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function bodyTold(bytes: Buffer): unknown {
  const body: Record<string, unknown> = JSON.parse(bytes.toString())
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, HIDDEN[name] ?? value]))
}

export type Started = AsyncDisposable & { url: string; service: ResultsService; hang(): void }

/** The service alone, on a port of its own. */
export async function startResults(): Promise<Started> {
  const service = new ResultsService()
  let hangs = false
  const server = createServer(async (request, response) => {
    const bytes = await bodyOf(request)
    if (hangs) return
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const { status, headers, body } = service.answer(request.method ?? '', url, request.headers, bytes)
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    service,
    hang: () => {
      hangs = true
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
