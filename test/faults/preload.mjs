// Counts every effect of the process it is loaded into, at Node's own boundary, and ends that process at one of them.
// Loaded by NODE_OPTIONS=--import. FAULTS names a folder: `plan.json` there says whom to end where, a log of effects is
// written beside it for each process (`main-1.jsonl`, `post-1.jsonl` …). What the product starts knows nothing of this.
//
// An effect is a call that changes something: of node:fs, a process (but a git that is known to only read), a request
// that is not GET. So a new effect of the product is counted without anybody remembering. Each has moments: `before`;
// `torn` (half of the bytes are written) for a write; `during` (it runs, and goes on without us) for a process and a
// request; `after`. The plan may also ask for images: a copy of folders as they are at that moment, while all waits.
import childProcess from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'

const folder = process.env.FAULTS
delete process.env.FAULTS
delete process.env.NODE_OPTIONS

const { appendFileSync, existsSync, openSync, readFileSync, writeFileSync } = fs
const { execFileSync } = childProcess
const die = process.kill.bind(process, process.pid)

if (folder !== undefined) install(folder, basename(process.argv[1] ?? '', '.js'))

function install(at, name) {
  const number = enrol(at, name)
  const log = join(at, `${name}-${number}.jsonl`)
  const plan = existsSync(join(at, 'plan.json'))
    ? JSON.parse(readFileSync(join(at, 'plan.json'), 'utf8'))
    : {}
  const mine = plan.process === name && plan.number === number
  let count = 0
  let inside = false

  /** The moment `when` of effect `n` has come. */
  function moment(n, when) {
    if (plan.order === true)
      through(() => appendFileSync(join(at, `${name}-${number}.order`), `${n} ${when}\n`))
    if (!mine) return
    const image = plan.images?.[`${n} ${when}`]
    if (image !== undefined) through(() => execFileSync('cp', ['-a', ...plan.what, image]))
    if (plan.at !== n || plan.when !== when) return
    through(() => writeFileSync(join(at, 'ended.json'), JSON.stringify({ n, when, pid: process.pid })))
    // A halted process does nothing more; the test takes its whole machine away.
    die(plan.how === 'halt' ? 'SIGSTOP' : 'SIGKILL')
    if (plan.how === 'halt') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }

  function effect(kind, what, moments) {
    count += 1
    through(() => appendFileSync(log, `${JSON.stringify({ n: count, kind, what, moments })}\n`))
    moment(count, 'before')
    return count
  }

  /** Calls the real function; what Node itself calls below it is part of the same effect. */
  function through(call) {
    if (inside) return call()
    inside = true
    try {
      return call()
    } finally {
      inside = false
    }
  }

  function wrap(
    object,
    method,
    { kind = method, what, moments = ['before', 'after'], only = () => true, torn, seen },
  ) {
    const real = object[method]
    if (typeof real !== 'function') return
    object[method] = function (...args) {
      if (inside || !only(args)) return Reflect.apply(real, this, args)
      const n = effect(kind, what(args), moments)
      if (torn !== undefined && mine && plan.at === n && plan.when === 'torn') {
        torn(args)
        moment(n, 'torn')
      }
      const last = args.at(-1)
      const isCallback = object === fs && typeof last === 'function'
      if (isCallback) {
        args[args.length - 1] = function (...given) {
          moment(n, 'after')
          return Reflect.apply(last, this, given)
        }
      }
      const result = through(() => Reflect.apply(real, this, args))
      if (typeof result?.then === 'function') {
        return result.then(
          (value) => {
            moment(n, 'after')
            return seen === undefined ? value : seen(value, args)
          },
          (error) => {
            moment(n, 'after')
            throw error
          },
        )
      }
      if (!isCallback) moment(n, 'after')
      return result
    }
  }

  const path = (args) => String(args[0]).split('/').slice(-2).join('/')
  const target = (args) => String(args[1]).split('/').slice(-2).join('/')
  const half = (data) => {
    const bytes =
      typeof data === 'string'
        ? Buffer.from(data)
        : ArrayBuffer.isView(data)
          ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
          : Buffer.alloc(0)
    return bytes.subarray(0, bytes.length >> 1)
  }
  const writes = {
    writeFile: (args) =>
      through(() =>
        writeFileSync(args[0], half(args[1]), args[2]?.flag === undefined ? {} : { flag: args[2].flag }),
      ),
    appendFile: (args) => through(() => appendFileSync(args[0], half(args[1]))),
    copyFile: (args) => through(() => writeFileSync(args[1], half(readFileSync(args[0])))),
  }
  const flagsWrite = (flags) =>
    typeof flags === 'number' ? (flags & 3) !== 0 || (flags & 64) !== 0 : /[wa+]/.test(flags ?? 'r')
  const changing = [
    'writeFile',
    'appendFile',
    'copyFile',
    'rename',
    'rm',
    'rmdir',
    'unlink',
    'mkdir',
    'mkdtemp',
    'cp',
    'symlink',
    'link',
    'chmod',
    'chown',
    'lchown',
    'utimes',
    'lutimes',
    'truncate',
  ]
  const handles = {
    write: 'write',
    writev: 'writev',
    writeFile: 'writeFile',
    appendFile: 'appendFile',
    sync: 'fsync',
    datasync: 'fdatasync',
    truncate: 'ftruncate',
  }
  for (const method of changing) {
    const torn = writes[method]
    const moments = torn === undefined ? ['before', 'after'] : ['before', 'torn', 'after']
    const options = {
      kind: method,
      what: ['rename', 'copyFile', 'cp'].includes(method) ? target : path,
      moments,
      ...(torn === undefined ? {} : { torn }),
    }
    for (const [object, name] of [
      [fs.promises, method],
      [fs, method],
      [fs, `${method}Sync`],
    ])
      wrap(object, name, options)
  }
  const descriptor = (args) => `fd ${typeof args[0] === 'number' ? 'of a file' : ''}`
  for (const method of [
    'write',
    'writev',
    'fsync',
    'fdatasync',
    'ftruncate',
    'fchmod',
    'fchown',
    'futimes',
  ]) {
    // Standard output and error say something, they do not keep it.
    const options = { kind: method, what: descriptor, only: (args) => args[0] > 2 }
    wrap(fs, method, options)
    wrap(fs, `${method}Sync`, options)
  }
  const opening = { what: path, kind: 'open', only: (args) => flagsWrite(args[1]) }
  wrap(fs, 'openSync', opening)
  wrap(fs, 'open', opening)
  wrap(fs.promises, 'open', {
    ...opening,
    seen: (handle, args) => {
      for (const [method, kind] of Object.entries(handles))
        wrap(handle, method, { kind, what: () => path(args) })
      return handle
    },
  })

  for (const method of ['spawn', 'execFile']) {
    const real = childProcess[method]
    childProcess[method] = function (file, ...rest) {
      const args = Array.isArray(rest[0]) ? rest[0] : []
      if (inside || !changes(file, args)) return through(() => Reflect.apply(real, this, [file, ...rest]))
      const n = effect('spawn', said(file, args), ['before', 'during', 'after'])
      const child = through(() => Reflect.apply(real, this, [file, ...rest]))
      child.once('exit', () => moment(n, 'after'))
      // What it reads is on its way; now it goes on alone.
      if (mine && plan.at === n && plan.when === 'during') setImmediate(() => moment(n, 'during'))
      return child
    }
  }
  for (const method of ['spawnSync', 'execFileSync', 'execSync']) {
    wrap(childProcess, method, {
      kind: 'spawn',
      what: (args) => said(args[0], Array.isArray(args[1]) ? args[1] : []),
      only: (args) => changes(args[0], Array.isArray(args[1]) ? args[1] : []),
    })
  }

  const realFetch = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const method = (init?.method ?? input?.method ?? 'GET').toUpperCase()
    if (method === 'GET' || method === 'HEAD') return realFetch(input, init)
    const n = effect('request', `${method} ${route(String(input?.url ?? input))}`, [
      'before',
      'during',
      'after',
    ])
    const answer = realFetch(input, init)
    // Sent, and the answer is never read.
    if (mine && plan.at === n && plan.when === 'during') {
      await answer.catch(() => {})
      moment(n, 'during')
    }
    const response = await answer
    const text = Buffer.from(await response.arrayBuffer())
    moment(n, 'after')
    const copy = new Response(response.status === 204 || response.status === 304 ? null : text, response)
    Object.defineProperty(copy, 'url', { value: response.url })
    return copy
  }
  for (const module of [http, https]) {
    const real = module.request
    module.request = function (...args) {
      const options =
        args.find((one) => typeof one === 'object' && one !== null && !(one instanceof URL)) ?? {}
      const method = (options.method ?? 'GET').toUpperCase()
      if (method === 'GET' || method === 'HEAD') return Reflect.apply(real, this, args)
      const n = effect('request', `${method} ${route(String(options.path ?? args[0]))}`, ['before', 'after'])
      const request = Reflect.apply(real, this, args)
      request.once('response', () => moment(n, 'after'))
      return request
    }
  }
  syncBuiltinESMExports()
}

/** The number of this process among those of its name: the first that can make the log has it. */
function enrol(at, name) {
  for (let number = 1; ; number++) {
    try {
      fs.closeSync(openSync(join(at, `${name}-${number}.jsonl`), 'wx'))
      return number
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
  }
}

function route(url) {
  return url.replace(/^https?:\/\/[^/]+/, '').replace(/\?.*/, '')
}

/** Everything but a git command that is known to only read. */
function changes(file, args) {
  if (basename(String(file)) !== 'git') return true
  const { command, rest } = gitCommand(args)
  if (command === 'symbolic-ref') return rest.filter((one) => !one.startsWith('-')).length > 1
  if (command === 'config') return !rest.some((one) => /^--(list|get)/.test(one))
  return !READING.has(command)
}

const READING = new Set([
  'cat-file',
  'check-attr',
  'check-ignore',
  'diff',
  'diff-files',
  'diff-index',
  'diff-tree',
  'for-each-ref',
  'log',
  'ls-files',
  'ls-remote',
  'ls-tree',
  'merge-base',
  'rev-list',
  'rev-parse',
  'show',
  'show-ref',
  'status',
  'var',
  'version',
  '--version',
])

function gitCommand(args) {
  let at = 0
  while (args[at] === '-c' || args[at] === '-C') at += 2
  return { command: String(args[at] ?? ''), rest: args.slice(at + 1).map(String) }
}

function said(file, args) {
  const program = basename(String(file))
  if (program === 'git') return `git ${gitCommand(args).command}`
  return `${program} ${args.map(String).join(' ')}`.slice(0, 80)
}
