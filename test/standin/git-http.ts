// Git over HTTP: the real `git http-backend` as a CGI program, with GitHub's words where a push is refused.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export interface GitAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** The refs that a push moved. */
  moved: { ref: string; before: string; after: string }[]
}
export interface GitCall {
  repository: string
  service: string
  query: string
  request: IncomingMessage
  body: Buffer
  login: string
  protectedBranches: string[]
  guard: 'strict' | 'lenient' | ''
}

/** Lets git answer one request. Never rejects for what the client did wrong: git reports that itself. */
export async function gitHttp(call: GitCall): Promise<GitAnswer> {
  const reasons = join(tmpdir(), `standin-reasons-${randomUUID()}`)
  const header = (name: string): string => String(call.request.headers[name] ?? '')
  const cgi = await run(
    {
      PATH: process.env.PATH ?? '',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_PROJECT_ROOT: dirname(call.repository),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${basename(call.repository)}/${call.service}`,
      REQUEST_METHOD: call.request.method ?? 'GET',
      QUERY_STRING: call.query,
      CONTENT_TYPE: header('content-type'),
      CONTENT_LENGTH: String(call.body.length),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_USER: call.login,
      REMOTE_ADDR: '127.0.0.1',
      STANDIN_REASONS: reasons,
      STANDIN_PROTECTED: call.protectedBranches.join(','),
      STANDIN_GUARD: call.guard,
    },
    call.body,
  )
  const answer = parseCgi(cgi)
  if (call.service !== 'git-receive-pack' || answer.status !== 200) return { ...answer, moved: [] }
  const refused = await readReasons(reasons)
  const report = rewriteReport(answer.body, refused)
  const encoded = header('content-encoding') === 'gzip' ? gunzipSync(call.body) : call.body
  const moved = commandsOf(encoded).filter(({ ref }) => report.accepted.has(ref))
  return { ...answer, body: report.body, moved }
}

function run(env: Record<string, string>, body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['http-backend'], { env })
    const out: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.resume()
    child.on('error', reject)
    child.on('close', () => resolve(Buffer.concat(out)))
    child.stdin.on('error', () => {})
    child.stdin.end(body)
  })
}

function parseCgi(output: Buffer): { status: number; headers: Record<string, string>; body: Buffer } {
  const end = output.indexOf('\r\n\r\n')
  const head = output.subarray(0, Math.max(end, 0)).toString()
  const headers: Record<string, string> = {}
  let status = end < 0 ? 500 : 200
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (name === 'status') status = Number.parseInt(value, 10)
    else headers[name] = value
  }
  return { status, headers, body: output.subarray(end + 4) }
}

async function readReasons(path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  await rm(path, { force: true })
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
}

/** The lines of a pkt-line stream up to the first flush. */
function packets(data: Buffer): { lines: Buffer[]; rest: Buffer } {
  const lines: Buffer[] = []
  let at = 0
  while (at + 4 <= data.length) {
    const length = Number.parseInt(data.subarray(at, at + 4).toString(), 16)
    if (Number.isNaN(length)) break
    if (length < 4) return { lines, rest: data.subarray(at + 4) }
    lines.push(data.subarray(at + 4, at + length))
    at += length
  }
  return { lines, rest: data.subarray(at) }
}
function packet(line: Buffer): Buffer {
  return Buffer.concat([Buffer.from((line.length + 4).toString(16).padStart(4, '0')), line])
}
const flush = Buffer.from('0000')

function commandsOf(body: Buffer): { ref: string; before: string; after: string }[] {
  return packets(body).lines.flatMap((line) => {
    const [command = ''] = line.toString().split('\0')
    const found = /^([0-9a-f]{40}) ([0-9a-f]{40}) (\S+)/.exec(command)
    return found === null ? [] : [{ before: found[1] ?? '', after: found[2] ?? '', ref: found[3] ?? '' }]
  })
}

/** Puts the exact words of a refusal where git only says that a hook declined. */
function rewriteReport(body: Buffer, reasons: Map<string, string>): { body: Buffer; accepted: Set<string> } {
  const outer = packets(body).lines
  const banded = outer.some((line) => line[0] === 1 || line[0] === 2)
  const report = banded
    ? Buffer.concat(outer.filter((line) => line[0] === 1).map((line) => line.subarray(1)))
    : body
  const accepted = new Set<string>()
  const lines = packets(report).lines.map((line) => {
    const [verdict, ref = '', ...words] = line.toString().trimEnd().split(' ')
    if (verdict === 'ok') accepted.add(ref)
    if (verdict !== 'ng' || words.join(' ') !== 'hook declined') return line
    return Buffer.from(`ng ${ref} ${reasons.get(ref) ?? 'hook declined'}\n`)
  })
  if (lines.length === 0) return { body, accepted }
  const rewritten = Buffer.concat([...lines.map(packet), flush])
  if (!banded) return { body: rewritten, accepted }
  const progress = outer.filter((line) => line[0] !== 1).map(packet)
  return {
    body: Buffer.concat([...progress, packet(Buffer.concat([Buffer.from([1]), rewritten])), flush]),
    accepted,
  }
}
