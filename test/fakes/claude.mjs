// A claude that looks about before it works: who it is, where its key is seen, what of the network it has. The work is
// that of agent.mjs.
//
//   claude.mjs <where.json> [claude's own arguments]     { key, script, sessions, saw, outside }
import { spawnSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [whereFile, ...args] = process.argv.slice(2)
const where = JSON.parse(readFileSync(whereFile, 'utf8'))
const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL: model = '' } = process.env
const key = ANTHROPIC_API_KEY ?? ANTHROPIC_AUTH_TOKEN ?? ''
const withKey = (value) =>
  ANTHROPIC_AUTH_TOKEN === undefined ? { 'x-api-key': value } : { authorization: `Bearer ${value}` }
if (args.includes('--version')) {
  appendFileSync(where.saw, `${JSON.stringify({ mode: 'version', key })}\n`)
  process.stdout.write('2.1.0 (a fake)\n')
  process.exit(0)
}

const answered = (url, options) =>
  fetch(url, options)
    .then((answer) => answer.text())
    .catch((error) => `failed: ${error.cause?.code ?? error.cause?.message ?? error.message}`)
/** Through the proxy that the environment names, without the help of fetch: older versions of Node, which another user may have, ignore it. */
const throughProxy = (url) => {
  const { HTTP_PROXY: proxy } = process.env
  if (proxy === undefined) return answered(url)
  const [{ hostname, port }, target] = [new URL(proxy), new URL(url)]
  const how =
    target.protocol === 'https:' ? { method: 'CONNECT', path: `${target.hostname}:443` } : { path: url }
  return new Promise((resolve) => {
    const asked = request({ hostname, port, ...how })
    asked.on('response', (answer) => answer.resume().on('close', () => resolve(`${answer.statusCode}`)))
    asked.on('connect', (answer, socket) => {
      socket.destroy()
      resolve(`${answer.statusCode}`)
    })
    asked.on('error', (error) => resolve(`failed: ${error.code ?? error.message}`))
    asked.end()
  })
}
/** Past the proxy that the environment names. */
const direct = (host) =>
  new Promise((resolve) => {
    const socket = connect({ host, port: 80, timeout: 5000 }, () =>
      socket.write('GET /direct HTTP/1.0\r\n\r\n'),
    )
    socket.on('data', (answer) => resolve(`answered ${answer}`))
    socket.on('timeout', () => socket.destroy(new Error('silence')))
    socket.on('error', (error) => resolve(`failed: ${error.code ?? error.message}`))
  })
const readable = (file) => {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
const inSight = readdirSync('/proc')
  .filter((name) => /^\d+$/.test(name))
  .flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`])
  .filter((file) => readable(file).includes(where.key))

const saw = {
  mode: process.env.RALPH_MODE,
  user: userInfo().username,
  key,
  inSight,
  model: await answered(`${model}/v1/messages`, {
    method: 'POST',
    headers: withKey(key),
    body: '{}',
  }),
  stranger: await answered(`${model}/v1/messages`, { headers: withKey('another') }),
  direct: await direct(where.outside),
  proxied: [
    await throughProxy('http://evil.example:8080/?<b>'),
    await throughProxy('https://evil.example/'),
    await throughProxy('https://evil.example/'),
  ],
}
appendFileSync(where.saw, `${JSON.stringify(saw)}\n`)

const agent = join(dirname(fileURLToPath(import.meta.url)), 'agent.mjs')
const done = spawnSync(process.execPath, [agent, where.script, where.sessions], {
  encoding: 'utf8',
  input: readFileSync(0),
})
const usage = { input_tokens: 10, output_tokens: 5 }
const result = { type: 'result', subtype: 'success', is_error: false, result: done.stdout, usage }
process.stdout.write(`${JSON.stringify({ ...result, total_cost_usd: 0.01 })}\n`)
