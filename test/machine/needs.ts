// What tests need of the machine beside Node and git. A test whose need is missing is skipped with the reason; where
// RALPH_REQUIRE names the need (`chrome,nft`), as CI does for what it has installed, the test is red instead.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { findChrome } from '../../src/gates/browser/find.ts'
import { usualPlace } from './browser.ts'

const ZIZMOR = '1.32.0'

/** Need to what is missing for it, or null. */
const NEEDS = {
  root: () => (process.platform === 'linux' && process.getuid?.() === 0 ? null : 'root on Linux'),
  chrome: () => chrome(),
  'chrome-for-all': () => chrome() ?? chromeForAll(),
  nft: () => programs('nftables', 'nft'),
  ip: () => programs('iproute2', 'ip'),
  'util-linux': () => programs('util-linux', 'setpriv', 'nsenter', 'prlimit'),
  postgres: () => postgres(),
  python: () => programs('python3', '/usr/bin/python3'),
  zizmor: () => zizmor(),
  // A terminal of its own is what the test types at.
  zsh: () => (runs('zsh', '-c', 'zmodload zsh/zpty') ? null : 'zsh with its module zsh/zpty'),
  fish: () => programs('fish', 'fish'),
  namespaces: () =>
    runs('unshare', '--mount', '--net', '--pid', '--fork', '--mount-proc', 'true')
      ? null
      : 'the right to make namespaces',
  landlock: () =>
    runs('perl', '-e', 'exit(syscall(444, my $none = 0, 0, 1) < 6)')
      ? null
      : 'a kernel with Landlock 6 (Linux 6.12), and perl',
  mount: () =>
    runs('unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt') ? null : 'the right to mount',
} satisfies Record<string, () => string | null>
export type Need = keyof typeof NEEDS

const known = new Map<Need, string | null>()
const required = new Set((process.env.RALPH_REQUIRE ?? '').split(',').filter((name) => name !== ''))
for (const name of required)
  if (!(name in NEEDS)) throw new Error(`RALPH_REQUIRE: ${name} is none of ${Object.keys(NEEDS).join(', ')}`)

/** For `skip` of a test: why the machine cannot run it, or false. Throws for a need that is required. */
export function lacks(...needs: readonly Need[]): string | false {
  for (const need of needs) {
    if (!known.has(need)) known.set(need, NEEDS[need]())
    const missing = known.get(need) ?? null
    if (missing === null) continue
    if (required.has(need)) throw new Error(`RALPH_REQUIRE names ${need}, but this machine lacks ${missing}`)
    return `needs ${missing}`
  }
  return false
}

function runs(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

function programs(debian: string, ...names: readonly string[]): string | null {
  const missing = names.filter(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined,
  )
  return missing.length === 0 ? null : `${missing.join(', ')} (Debian: apt-get install ${debian})`
}

/** Debian keeps the programs of its server off the PATH. */
function postgres(): string | null {
  const folders = globSync('/usr/lib/postgresql/*/bin')
  process.env.PATH = [process.env.PATH, ...folders].join(':')
  return programs('postgresql', 'initdb', 'postgres', 'pg_ctl', 'pg_isready', 'psql')
}

/** Fetches one where the machine has none, and puts it on the PATH of this process: what tests start finds it there, too. */
function chrome(): string | null {
  try {
    findChrome(null, process.env)
    return null
  } catch {
    // scripts/check.mjs has asked already, once for all files.
    const refused = process.env.RALPH_NO_BROWSER
    const told = refused ?? putOnPath()
    if (told === null) return null
    process.env.RALPH_NO_BROWSER = told
    return `Chrome or Chromium, and none can be fetched: ${told}`
  }
}

/** What is fetched lies in the home of a user, which another one may not be able to enter. */
function chromeForAll(): string | null {
  const another = ['--reuid=65534', '--regid=65534', '--clear-groups']
  const isOpen = runs('setpriv', ...another, 'test', '-x', findChrome(null, process.env))
  return isOpen ? null : 'a Chrome or Chromium that every user may start'
}

/** Installs the version whose findings docs/internals/security.md answers into the user's cache, once; then it is on the PATH of this process. */
function zizmor(): string | null {
  const folder = join(usualPlace().cache, `zizmor-${ZIZMOR}`)
  const program = join(folder, 'bin', 'zizmor')
  if (!runs(program, '--version')) {
    const pip = join(folder, 'bin', 'pip')
    const isInstalled =
      runs('python3', '-m', 'venv', folder) &&
      runs(pip, 'install', '--quiet', '--only-binary', ':all:', `zizmor==${ZIZMOR}`)
    if (!isInstalled) return `zizmor ${ZIZMOR}, and it cannot be installed by python3 with venv and pip`
  }
  process.env.PATH = `${join(folder, 'bin')}:${process.env.PATH}`
  return null
}

function putOnPath(): string | null {
  const fetching = spawnSync(process.execPath, [join(import.meta.dirname, 'browser.ts')], {
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (fetching.status !== 0) return fetching.stderr.trim() || 'no answer in 5 minutes'
  process.env.PATH = `${fetching.stdout}:${process.env.PATH}`
  return null
}
