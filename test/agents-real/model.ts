// A model on loopback for real agent CLIs, as a program of its own: `node test/agents-real/model.ts SCRIPT.json [PORT]`
// prints its address, then a line of JSON for each request. It keeps no state: the turn that it answers with is the
// number of tool results in the request, so parallel sessions, repeated requests and sub-agents all get the right one.

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Asked, type Dialect, dialects, type Part, type Tokens, type Tool } from './dialects.ts'

/** What the model wants done; each becomes a call of a tool that the agent really offers. */
export type Wish = { write: string; content: string } | { shell: string }

/** `data`: what it says instead where a schema asks for JSON. */
export type Turn = { say?: string; wishes?: readonly Wish[]; data?: Record<string, unknown> }

/** How requests that offer tools are refused. `hang` never answers; without `times` it is for ever. */
export type Failure = {
  times?: number
  hang?: boolean
  status?: number
  headers?: Readonly<Record<string, string>>
  body?: unknown
}

export type Script = {
  /** Where relative paths of `write` lie. */
  cwd: string
  /** The first whose `when` stands in the request's text answers it. */
  sessions: readonly { when: string; turns: readonly Turn[] }[]
  failure?: Failure
  /** The agent offers no tools: it reads its model's edits from the answer. */
  isToolless?: true
}

/**
 * `turn` is null for a request that offers no tools (a title, a summary); `status` is 0 for one left to hang; `key` is what it
 * came with, in whatever header.
 */
export type Seen = {
  path: string
  bytes: number
  turn: number | null
  status: number
  text: string
  key: string
}

export type Model = AsyncDisposable & {
  url: string
  requests: readonly Seen[]
  /** Resolves when a request comes that fits, or has come. */
  when(fits: (seen: Seen) => boolean): Promise<Seen>
}

/** Tokens of the answer at this turn, so that what an agent adds up can be checked. */
export function tokensOf(turn: number): Tokens {
  return { input: 1000 + 100 * turn, cached: 200, output: 50 + turn }
}

/** Starts the model on a free port of 127.0.0.1, or on `port` of `host`; the script may be made when the address is known. */
export async function startModel(
  given: Script | ((url: string) => Script),
  port = 0,
  host = '127.0.0.1',
): Promise<Model> {
  let script: Script = { cwd: '/', sessions: [] }
  const requests: Seen[] = []
  const waiting = new Set<() => void>()
  let failures = 0

  const note = (seen: Seen): void => {
    requests.push(seen)
    for (const look of [...waiting]) look()
  }
  const refusal = (): Failure | null => {
    const { failure } = script
    if (failure === undefined || failures >= (failure.times ?? Number.POSITIVE_INFINITY)) return null
    failures += 1
    return failure
  }

  const server = createServer(async (request, response) => {
    const text = await bodyOf(request)
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    const key = keyOf(request)
    const give = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}) =>
      send(response, status, JSON.stringify(value), { 'content-type': 'application/json', ...headers })
    const dialect = request.method === 'POST' ? dialects.find((one) => one.path.test(path)) : undefined
    if (dialect === undefined) {
      note({ path, key, bytes: text.length, turn: null, status: 200, text })
      return give(200, bySide(path))
    }
    const asked = dialect.read(parsed(text), path)
    const main = asked.tools.length > 0 || script.isToolless === true
    const turn = main ? asked.results : null
    const failure = main ? refusal() : null
    if (failure?.hang === true) return note({ path, key, bytes: text.length, turn, status: 0, text })
    if (failure !== null) {
      const status = failure.status ?? 500
      note({ path, key, bytes: text.length, turn, status, text })
      return give(status, failure.body ?? dialect.error(status, 'refused by the script'), failure.headers)
    }
    note({ path, key, bytes: text.length, turn, status: 200, text })
    const parts = main ? partsOf(script, asked, text) : [{ kind: 'text' as const, text: 'A title' }]
    const tokens = main ? tokensOf(asked.results) : { input: 0, cached: 0, output: 0 }
    answer(response, dialect, parts, asked, tokens, String(requests.length))
  })
  // codex tries a web socket first: told at once that there is none, it asks by HTTP.
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = `http://${host}:${address.port}`
  script = typeof given === 'function' ? given(url) : given
  return {
    url,
    requests,
    when: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = requests.find(fits)
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function keyOf({ headers }: IncomingMessage): string {
  const given = headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? ''
  return String(given).replace(/^Bearer /i, '')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): void {
  response.on('error', () => {})
  response.writeHead(status, headers)
  response.end(body)
}

function answer(
  response: ServerResponse,
  dialect: Dialect,
  parts: readonly Part[],
  asked: Asked,
  tokens: Tokens,
  id: string,
): void {
  const { contentType, body } = dialect.answer(parts, asked, tokens, id)
  send(response, 200, body, { 'content-type': contentType, 'request-id': `req_${id}` })
}

/** Counting tokens, listing models, looking whether somebody is there. */
function bySide(path: string): unknown {
  if (path.endsWith('/count_tokens')) return { input_tokens: 1000 }
  if (path.endsWith(':countTokens')) return { totalTokens: 1000 }
  return { object: 'list', data: [], models: [] }
}

function partsOf(script: Script, asked: Asked, text: string): Part[] {
  const session = script.sessions.find((one) => text.includes(one.when))
  const turn = session?.turns[Math.min(asked.results, session.turns.length - 1)]
  if (turn === undefined) return [{ kind: 'text', text: 'The script has nothing to say to this.' }]
  if (turn.data !== undefined) {
    const tool = asked.tools.find(({ name }) => /^structured_?output$/i.test(name))
    if (tool !== undefined) return [{ kind: 'call', name: tool.name, input: turn.data }]
    if (asked.isShaped === true) return [{ kind: 'text', text: JSON.stringify(turn.data) }]
  }
  const said: Part[] = turn.say === undefined ? [] : [{ kind: 'text', text: turn.say }]
  return [...said, ...(turn.wishes ?? []).map((wish) => callOf(wish, asked.tools, script.cwd))]
}

/** The wish as a call of one of these tools; each vendor calls its own by another name. */
export function callOf(wish: Wish, tools: readonly Tool[], cwd: string): Part {
  const call = (name: string, input: Record<string, unknown>): Part => ({ kind: 'call', name, input })
  const has = (name: string) => tools.find((tool) => tool.name === name)
  if ('shell' in wish) {
    if (has('Bash')) return call('Bash', { command: wish.shell, description: 'run it' })
    if (has('run_shell_command')) return call('run_shell_command', { command: wish.shell })
    if (has('bash')) return call('bash', { command: wish.shell, description: 'run it' })
    // Its summary has to be a sentence.
    if (has('Execute')) return call('Execute', { command: wish.shell, summary: 'Run what is asked' })
    if (has('exec_command')) return call('exec_command', { cmd: wish.shell })
    if (has('shell')) return call('shell', { command: ['bash', '-c', wish.shell] })
    if (has('exec')?.freeform === true) {
      const command = JSON.stringify({ cmd: wish.shell })
      const input = `const result = await tools.exec_command(${command});\ntext(result.output);`
      return { kind: 'freeform', name: 'exec', input }
    }
    return nothingFor(wish, tools)
  }
  const path = isAbsolute(wish.write) ? wish.write : join(cwd, wish.write)
  if (has('Write')) return call('Write', { file_path: path, content: wish.content })
  if (has('write_file')) return call('write_file', { file_path: path, content: wish.content })
  if (has('write')) return call('write', { filePath: path, content: wish.content })
  if (has('create')) return call('create', { path, file_text: wish.content })
  if (has('Create')) return call('Create', { file_path: path, content: wish.content })
  const patch = patchOf(wish.write, wish.content)
  const patching = has('apply_patch')
  if (patching?.freeform === true) return { kind: 'freeform', name: 'apply_patch', input: patch }
  if (patching !== undefined) return call('apply_patch', { [patching.properties[0] ?? 'input']: patch })
  if (has('exec')?.freeform === true) {
    const input = `text(await tools.apply_patch(${JSON.stringify(patch)}));`
    return { kind: 'freeform', name: 'exec', input }
  }
  const shell = `mkdir -p "$(dirname ${quoted(path)})" && printf %s ${quoted(wish.content)} > ${quoted(path)}`
  return callOf({ shell }, tools, cwd)
}

function patchOf(path: string, content: string): string {
  const lines = content.replace(/\n$/, '').split('\n')
  return [
    `*** Begin Patch`,
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ].join('\n')
}

function nothingFor(wish: Wish, tools: readonly Tool[]): Part {
  const names = tools.map((tool) => tool.name).join(', ')
  return { kind: 'text', text: `There is no tool for ${JSON.stringify(wish)} among ${names}.` }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file, port] = process.argv
  if (file === undefined) throw new Error('usage: node test/agents-real/model.ts SCRIPT.json [PORT]')
  const model = await startModel(JSON.parse(readFileSync(file, 'utf8')), Number(port ?? 0))
  process.stdout.write(`${model.url}\n`)
  let told = 0
  void model.when(() => {
    for (const { text: _text, ...seen } of model.requests.slice(told)) {
      process.stdout.write(`${JSON.stringify(seen)}\n`)
      told += 1
    }
    return false
  })
}
