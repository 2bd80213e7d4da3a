// Uploads an artifact of the run with the requests of @actions/artifact 6.2: create, put, finalize. The library is not used because
// its storage client has megabytes; tests compare the first and last request with recorded ones (scripts/record-artifact.mjs).
import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { asObject } from '../engine/model/json.ts'
import { forgeOf, isGitHubHost } from './forges/forge.ts'

const SERVICE = '/twirp/github.actions.results.api.v1.ArtifactService'

/** A job's access to the results service. It is never in the environment of an untrusted program. */
export type Runtime = { token: string; url: string; run: string; job: string }

/** Null if there is no such service: on GitHub Enterprise Server, Gitea and Forgejo, and outside of a job. */
export function runtimeOf(env: Readonly<Record<string, string>>): Runtime | null {
  const { ACTIONS_RUNTIME_TOKEN: token = '', ACTIONS_RESULTS_URL: url = '' } = env
  if (!URL.canParse(url) || !hasResults(env)) return null
  const [, run = '', job = ''] = /(?:^| )Actions\.Results:([^: ]+):([^: ]+)(?: |$)/.exec(scopeOf(token)) ?? []
  return run === '' ? null : { token, url, run, job }
}

/** Whether jobs of the environment's server have the services of artifacts and caches. Without a server, it is github.com. */
export function hasResults(env: Readonly<Record<string, string | undefined>>): boolean {
  if (!forgeOf(env.GITHUB_API_URL ?? '').hasArtifacts) return false
  const address = env.GITHUB_SERVER_URL || 'https://github.com'
  return isGitHubHost(URL.canParse(address) ? new URL(address).hostname : '')
}

/** The scope in a token's claims. They are not verified here: the service does that. */
function scopeOf(token: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    return z.object({ scp: z.string() }).parse(claims).scp
  } catch {
    return ''
  }
}

const Created = z.object({ ok: z.literal(true), signed_upload_url: z.string() })
const Finalized = z.object({ ok: z.literal(true), artifact_id: z.union([z.string(), z.number()]) })

/** Uploads a file; gives the artifact's id. A name can be used once in a run. Throws if the service refuses it. */
export async function uploadArtifact(
  runtime: Runtime,
  name: string,
  zip: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string> {
  const ids = { workflow_run_backend_id: runtime.run, workflow_job_run_backend_id: runtime.job, name }
  const call = async (method: string, body: object): Promise<unknown> => {
    const answer = await fetchOk(new URL(`${SERVICE}/${method}`, runtime.url), method, {
      method: 'POST',
      headers: { authorization: `Bearer ${runtime.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ids, ...body }),
      signal,
    })
    return answer.json()
  }
  const asked = { version: 7, mime_type: 'application/zip' }
  const created = readAnswer(Created, 'CreateArtifact', await call('CreateArtifact', asked))
  // One Put Blob request, which may have up to 5,000 MiB. The URL is signed, so it must not be in any message.
  await fetchOk(new URL(created.signed_upload_url), 'the upload', {
    method: 'PUT',
    headers: {
      'content-type': 'application/octet-stream',
      'x-ms-blob-type': 'BlockBlob',
      'x-ms-blob-content-type': 'application/zip',
    },
    body: zip,
    signal,
  })
  const hash = `sha256:${createHash('sha256').update(zip).digest('hex')}`
  const finalized = await call('FinalizeArtifact', { size: String(zip.length), hash })
  return String(readAnswer(Finalized, 'FinalizeArtifact', finalized).artifact_id)
}

/**
 * The answer of a service with names in snake_case. Other runners write them in camelCase, the default of proto3. Throws an error that
 * repeats nothing of the answer: it may hold a signed URL.
 */
export function readAnswer<T>(schema: z.ZodMiniType<T>, action: string, answer: unknown): T {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const entries = Object.entries(asObject(answer) ?? {}).map(([name, value]) => [snake(name), value])
  const result = schema.safeParse(Object.fromEntries(entries))
  if (result.success) return result.data
  throw new Error(`Ralph cannot read the answer to ${action}: the service may have another version`)
}

/** Throws if the answer is not a success; the error names neither address nor token. */
export async function fetchOk(url: URL, action: string, request: RequestInit): Promise<Response> {
  const answer = await fetch(url, { ...request, redirect: 'error' })
  if (answer.ok) return answer
  const text = (await answer.text().catch(() => '')).slice(0, 200)
  throw new Error(`${action} failed with HTTP ${answer.status} ${text}`.trim())
}
