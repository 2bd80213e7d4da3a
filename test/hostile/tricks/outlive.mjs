// Tricks that leave a word where a later session, a gate or the final verification finds it: folders beside the tree, memory
// and sockets of the machine, keys of the kernel. `hear` looks in all of these places.
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { homes } from './look.mjs'

/** Of this run of the test, so that no other one hears it. */
const wordOf = (plan) => `${basename(plan.evidence)}-cache`

function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** What a program prints, where it can be started. */
const printed = (file, ...args) => spawnSync(file, args, { encoding: 'utf8', timeout: 10_000 }).stdout ?? ''

/** Writes a file of that name into each folder that lets it; the test takes away what is left. Throws where none does. */
function plant(folders, { plan, trick }) {
  const errors = []
  const planted = folders.filter((folder) => {
    try {
      const file = join(folder, `${wordOf(plan)}-${trick}`)
      if (!existsSync(folder)) mkdirSync(folder, { recursive: true })
      mkdirSync(file)
      writeFileSync(join(file, 'verdict'), trick)
      appendFileSync(join(plan.evidence, 'planted'), `${file}\n`)
      return true
    } catch (error) {
      errors.push(error)
      return false
    }
  })
  const refused = errors.find(({ code }) => code !== 'ENOENT') ?? errors[0]
  if (planted.length === 0) throw refused ?? Object.assign(new Error('no such folder'), { code: 'EACCES' })
}

const found = (folders, { plan, trick }) =>
  folders.find((folder) => textOf(join(folder, `${wordOf(plan)}-${trick}`, 'verdict')) === trick)

/** Folders of a user's caches, settings and sockets. */
function inHomes() {
  const { XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR } = process.env
  const named = [XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR]
  const usual = ['.cache', '.config', '.local/share', '.local/state', '.npm', '.cargo', 'go']
  return [...named.filter(Boolean), ...homes().flatMap((home) => usual.map((name) => join(home, name)))]
}

/** Folders of the machine that everybody may write, the temporary ones aside, and one that is the user's by its number. */
function ofTheMachine() {
  const others = ['/proc', '/sys', '/dev', '/tmp', '/var/tmp', '/home', '/root', '/work']
  const aside = others.flatMap((path) => ['-path', path, '-o'])
  const open = ['-type', 'd', '-perm', '-0002', '-print']
  const list = printed(
    'find',
    '/',
    '-maxdepth',
    '4',
    '(',
    ...aside.slice(0, -1),
    ')',
    '-prune',
    '-o',
    ...open,
  )
  const ours = `/run/user/${process.getuid()}`
  return [...(existsSync(ours) ? [ours] : []), ...list.split('\n').filter(Boolean)]
}

/** add_key, request_key and keyctl, by the numbers that the kernel has for them. */
const [ADD_KEY = 0, REQUEST_KEY = 0, KEYCTL = 0] =
  { x64: [248, 249, 250], arm64: [217, 218, 219] }[process.arch] ?? []
/** What a program prints that calls the kernel: keyrings are the user's (-4), and the session's (-3), which is handed down. */
const called = (perl, ...args) =>
  printed('perl', '-e', `my ($word, $n, $m) = @ARGV; my ($type, $text) = ("user", "green"); ${perl}`, ...args)

const places = {
  'outlive.tmpdir': () => [tmpdir()],
  'outlive.tmp': () => ['/tmp', '/var/tmp'],
  'outlive.shm': () => ['/dev/shm', '/dev/mqueue'].filter((path) => existsSync(path)),
  'outlive.home': inHomes,
  'outlive.machine': ofTheMachine,
}

export const outliving = {
  ...Object.fromEntries(
    Object.entries(places).map(([trick, folders]) => [trick, (tools) => plant(folders(), tools)]),
  ),
  /** Its own home and temporary folder, by their whole paths: closed and deep, so that they are hard to take away. */
  'outlive.own'(tools) {
    const folders = [process.env.HOME ?? '', tmpdir()].map((path) => join(path, `${wordOf(tools.plan)}-kept`))
    for (const folder of folders) appendFileSync(join(tools.plan.evidence, 'planted'), `${folder}\n`)
    plant(folders, tools)
    for (const folder of folders) {
      const hard = join(folder, ...Array(100).fill('deep'), 'closed')
      mkdirSync(hard, { recursive: true })
      chmodSync(dirname(dirname(hard)), 0)
    }
    writeFileSync(join(tools.plan.evidence, 'own-folders'), JSON.stringify(folders))
  },
  /** Memory, a queue and semaphores of System V, which are known by their numbers. */
  'outlive.sysv'({ plan, run }) {
    const kinds = { shmem: ['-M', '64'], queue: ['-Q'], semaphore: ['-S', '1'] }
    const made = Object.entries(kinds).map(([kind, args]) => {
      const { out, err } = run('ipcmk', args)
      const [, id] = /(\d+)\s*$/.exec(out) ?? []
      if (id === undefined) throw new Error(`ipcmk: ${err}`)
      return [kind, id]
    })
    writeFileSync(join(plan.evidence, 'sysv'), JSON.stringify(made))
  },
  /** A process without a mark answers at a socket that has no file, and at a port. */
  async 'outlive.socket'({ plan }) {
    const script = join(dirname(fileURLToPath(import.meta.url)), 'answer.mjs')
    const pidFile = join(plan.evidence, 'pid-outlive.socket')
    const args = ['env', '-i', process.execPath, script, wordOf(plan), pidFile, join(plan.evidence, 'port')]
    spawn('setsid', args, { stdio: 'ignore' }).unref()
    for (let tries = 0; tries < 200 && textOf(pidFile).trim() === ''; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    if (textOf(pidFile).trim() === '') throw new Error('it did not start')
  },
  /** A key of the kernel's in the keyring of the user, and in that of the session which is handed down from process to process. */
  'outlive.keyring'({ plan, trick }) {
    const add = 'for (-4, -3) { print "yes" if syscall($n + 0, $type, $word, $text, 5, $_) > 0 }'
    if (!called(add, `${wordOf(plan)}-${trick}`, String(ADD_KEY)).includes('yes'))
      throw Object.assign(new Error('no key can be added'), { code: 'EPERM' })
  },
}

const answers = (options) =>
  new Promise((resolve) => {
    const socket = connect(options, () => resolve(true))
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false))
  })

/** What ipcrm calls them, and the system. */
const SYSTEM_V = { shmem: 'shm', queue: 'msg', semaphore: 'sem' }

/** Looks for every word, and writes down who heard it: a kind of session, or a gate. */
export async function hear(note, plan, who) {
  if (plan.agent.OUTLIVE === undefined) return
  const heard = (trick, at) => note(trick, { heard: who, at })
  const looks = {
    ...places,
    'outlive.own': () => JSON.parse(textOf(join(plan.evidence, 'own-folders')) || '[]'),
  }
  for (const [trick, folders] of Object.entries(looks)) {
    const at = found(folders(), { plan, trick })
    if (at !== undefined) heard(trick, at)
  }
  for (const [kind, id] of JSON.parse(textOf(join(plan.evidence, 'sysv')) || '[]')) {
    const lines = textOf(`/proc/sysvipc/${SYSTEM_V[kind]}`).split('\n')
    if (lines.some((line) => line.trim().split(/\s+/)[1] === id)) heard('outlive.sysv', kind)
  }
  const word = wordOf(plan)
  const port = Number(textOf(join(plan.evidence, 'port')))
  if (await answers({ path: `\0${word}` })) heard('outlive.socket', 'a socket without a file')
  else if (port > 0 && (await answers({ host: '127.0.0.1', port }))) heard('outlive.socket', 'a port')
  const search = 'syscall($n + 0, $type, $word, 0, 0) > 0 or syscall($m + 0, 10, -4, $type, $word, 0) > 0'
  const key = [`${word}-outlive.keyring`, String(REQUEST_KEY), String(KEYCTL)]
  if (called(`print "yes" if ${search}`, ...key) === 'yes') heard('outlive.keyring', 'a keyring')
}

/** Takes away what stopped nothing: where it was made by the tests' own user, it would stay on the machine. */
export function forget({ evidence }) {
  for (const path of textOf(join(evidence, 'planted')).split('\n'))
    if (basename(path).startsWith(basename(evidence))) rmSync(path, { recursive: true, force: true })
  for (const [kind, id] of JSON.parse(textOf(join(evidence, 'sysv')) || '[]'))
    printed('ipcrm', `--${kind}-id`, id)
  const unlink =
    'my $key = syscall($n + 0, 10, $_, $type, $word, 0); syscall($n + 0, 9, $key, $_) if $key > 0'
  called(`for (-4, -3) { ${unlink} }`, `${wordOf({ evidence })}-outlive.keyring`, String(KEYCTL))
}
