// Counts every effect of the process it is loaded into, at Node's own boundary, and ends that process at one of them.
// Loaded by NODE_OPTIONS=--import. FAULTS names a folder: `plans.json` there says what happens to whom (`main-1` is the
// first process of main.js, `main of 1005` that of the run 1005), a log of effects is written beside it for each process
// (`main-1.jsonl`, `post-1.jsonl` …). What the product starts knows nothing of this.
//
// An effect is a call that changes something: of node:fs, a process (but a git that is known to only read), a request
// that is not GET. So a new effect of the product is counted without anybody remembering. Each has moments: `before`;
// `torn` (half of the bytes are written) for a write; `during` (it runs, and goes on without us) for a process and a
// request; `after`. A plan:
//   at, when   the moment of an effect, by its number or its name: on a busy machine one more or less comes before it. It is said on standard output, and then, by `how`: `kill` (SIGKILL), `halt`
//              (nothing goes on: the test takes the machine away), `tell` (all goes on)
//   trace      folders of which a fingerprint is written down at every moment: moments that leave the same are one
//   images     moments at which the folders `what` are copied while all waits, such as {"12 after": "/tmp/image"}
import childProcess from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'

const folder = process.env.FAULTS
const again = process.env.FAULTS_NUMBER
const { NODE_OPTIONS, GITHUB_RUN_ID } = process.env
delete process.env.FAULTS_NUMBER
delete process.env.FAULTS
delete process.env.NODE_OPTIONS

const {
  appendFileSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} = fs
const { execFileSync } = childProcess
const die = process.kill.bind(process, process.pid)
/** Ids, numbers, the owner of a session's home and the letters of mkdtemp: another in each run. */
const VARYING =
  /(?<=ralph-home-\w{10}-)\w+\.\w{4}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,}|\b[0-9a-f]{2}\b|\d+|-[A-Za-z0-9]{6}(?=\/|$)/g
/** What a process says at the moment that was planned. */
const MET = 'The moment of the plan has come.'

if (folder !== undefined) install(folder, basename(process.argv[1] ?? '', '.js'))

function install(at, name) {
  const number = again === undefined ? enrol(at, name) : Number(again)
  const log = join(at, `${name}-${number}.jsonl`)
  const file = join(at, 'plans.json')
  const plans = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const plan = plans[`${name}-${number}`] ?? plans[`${name} of ${process.env.GITHUB_RUN_ID}`] ?? {}
  // A process that starts itself anew is still the same.
  const before = again === undefined ? [] : readFileSync(log, 'utf8').split('\n').slice(0, -1)
  let count = before.length
  const realExecve = process.execve
  process.execve = (file, args, env) =>
    realExecve(file, args, { ...env, NODE_OPTIONS, GITHUB_RUN_ID, FAULTS: at, FAULTS_NUMBER: String(number) })
  /** By number what an effect is, with how many times it was there. */
  const names = ['']
  const times = new Map()
  for (const line of before) {
    const [, whatever, time] = /^(.*), (\d+)$/s.exec(JSON.parse(line).name)
    times.set(whatever, Number(time))
  }
  let inside = false
  /** Processes that were started and have not ended. */
  let busy = 0

  /** The moment `when` of effect `n` has come. */
  function moment(n, when) {
    if (plan.trace !== undefined) {
      const left = busy > 0 ? 'busy' : through(() => fingerprint(plan.trace))
      through(() => appendFileSync(join(at, `${name}-${number}.trace`), `${n} ${when} ${left}\n`))
    }
    const image = plan.images?.[`${n} ${when}`] ?? plan.images?.[`${names[n]} ${when}`]
    if (image !== undefined) through(() => execFileSync('cp', ['-a', ...plan.what, image]))
    if (!isPlanned(n, when)) return
    through(() => writeSync(1, `${MET}\n`))
    if (plan.how === 'tell') return
    die(plan.how === 'halt' ? 'SIGSTOP' : 'SIGKILL')
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }

  function isPlanned(n, when) {
    return plan.when === when && (plan.at === n || plan.at === names[n])
  }

  function effect(kind, what, moments) {
    count += 1
    const whatever = `${kind} ${what.replace(VARYING, '#')}`
    times.set(whatever, (times.get(whatever) ?? 0) + 1)
    const name = `${whatever}, ${times.get(whatever)}`
    names[count] = name
    through(() => appendFileSync(log, `${JSON.stringify({ n: count, name, kind, what, moments })}\n`))
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

  /** What throws has an end, too. */
  function attempted(n, call) {
    try {
      return call()
    } catch (error) {
      moment(n, 'after')
      throw error
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
      if (torn !== undefined && isPlanned(n, 'torn')) {
        // What cannot be written at all fails in the real call, too.
        try {
          torn(args)
        } catch {}
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
      const result = attempted(n, () => through(() => Reflect.apply(real, this, args)))
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
      busy += 1
      child.once('exit', () => {
        busy -= 1
        moment(n, 'after')
      })
      // What it reads is on its way; now it goes on alone.
      if (isPlanned(n, 'during')) setImmediate(() => moment(n, 'during'))
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
    if (isPlanned(n, 'during')) {
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

/** What folders and files hold: names and bytes, no times. Git's objects are named by what they hold. */
function fingerprint(paths) {
  const hash = createHash('sha1')
  const add = (path) => {
    const found = lstatSync(path)
    hash.update(`${path} ${found.mode}\n`)
    if (found.isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name))
    else if (found.isFile() && !path.includes('/objects/')) hash.update(readFileSync(path))
  }
  for (const path of paths) add(path)
  return hash.digest('hex')
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
