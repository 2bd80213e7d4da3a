// Installs an agent's npm package at one version, once for each machine: trusted side, without keys, outside the repository.

import { existsSync } from 'node:fs'
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { messageOf, UserError } from '../system/errors.ts'
import { runUntrusted } from '../system/process.ts'
import { findProgram } from '../system/program.ts'
import { type AgentVendor, words } from './agent.ts'
import { available } from './available.ts'
import { oneLine } from './ending.ts'

export type InstallRequest = {
  vendor: AgentVendor
  /** A version, a range or a tag. */
  version: string
  /** Without keys: what npm and the package's own scripts see (untrusted-env.ts, `gateEnv`). */
  env: Readonly<Record<string, string>>
  /** Folders to install into: the first that has it, else the first that can be written. */
  caches: readonly string[]
  signal?: AbortSignal
  /** Once before the installation and once after it; nothing when it is there already. */
  report(line: string): void
}

/** `bin` goes to the front of the agent's PATH. */
export type Installed = { version: string; bin: string }

const INSTALL_TIMEOUT_MS = 10 * 60_000
const ASK_TIMEOUT_MS = 60_000
const STAGING = '.installing-'
/** Nothing that npm would read as a folder, an address or an option. */
const SPEC = /^[\w^~][\w.^~+-]*$/
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/

/** Where agents are installed: the runner's tool cache, the user's cache folder, or `last`, which is always ours. */
export function agentCaches(env: Readonly<Record<string, string | undefined>>, last: string): string[] {
  const { RUNNER_TOOL_CACHE: tools, XDG_CACHE_HOME: cache, HOME: home } = env
  const known = [tools, cache, home === undefined ? home : join(home, '.cache')]
  const first = known.find((folder) => folder?.startsWith('/'))
  return [...(first === undefined ? [] : [join(first, 'ralph-agents')]), last]
}

/**
 * The folder with the agent's program at this version, `<cache>/<agent>/<version>/node_modules/.bin`. It appears there
 * whole, by a rename, so a killed installation leaves nothing that looks like one, and two at a time do no harm.
 * Throws UserError where there is no package, no npm, no such version, or a program that does not start.
 */
export async function installAgent(request: InstallRequest): Promise<Installed> {
  const { vendor, version: spec } = request
  if (vendor.npm === null) {
    const fix = `leave it out and install it before: ${vendor.install}`
    throw mistake(spec, 'an agent with an npm package', fix)
  }
  if (!SPEC.test(spec)) {
    throw mistake(spec, 'a version, a range or a tag', 'write a version such as 1.2.3, or latest')
  }
  const found = EXACT.test(spec) ? installed(request, spec) : null
  if (found !== null) return found
  const npm = findProgram('npm', request.env.PATH ?? '')
  if (npm === null) {
    const fix =
      'set up Node.js with npm in a step before, or install the agent there and leave agent-version out'
    throw mistake(spec, 'npm on the PATH, to install it with', fix)
  }
  const place = { ...request, npm, package: vendor.npm, folder: await firstWritable(request) }
  const version = EXACT.test(spec) ? spec : await exactVersion(place)
  return installed(request, version) ?? (await install(place, version))
}

/** What npm is to install, and where. */
type Place = InstallRequest & { npm: string; package: string; folder: string }

function installed({ caches, vendor }: InstallRequest, version: string): Installed | null {
  const bins = caches.map((cache) => join(cache, vendor.name, version, 'node_modules', '.bin'))
  const bin = bins.find((folder) => existsSync(join(folder, vendor.program)))
  return bin === undefined ? null : { version, bin }
}

async function firstWritable({ caches, vendor, version }: InstallRequest): Promise<string> {
  const refused: string[] = []
  for (const cache of caches) {
    const folder = join(cache, vendor.name)
    try {
      await mkdir(folder, { recursive: true })
      await access(folder, constants.W_OK)
      return folder
    } catch (error) {
      refused.push(messageOf(error))
    }
  }
  throw mistake(version, 'a folder to install it into', `make one writable: ${oneLine(refused.join('; '))}`)
}

/** Asks the registry what a range or a tag stands for now. */
async function exactVersion(place: Place): Promise<string> {
  const cache = join(place.folder, '.npm')
  const spec = `${place.package}@${place.version}`
  const args = ['view', spec, 'version', '--json', '--cache', cache]
  const output = await runNpm(place, place.folder, args, ASK_TIMEOUT_MS)
  await rm(cache, { recursive: true, force: true })
  const newest = [...output.matchAll(/"(\d+\.\d+\.\d+[^"]*)"/g)].at(-1)?.[1]
  if (newest !== undefined && EXACT.test(newest)) return newest
  throw mistake(place.version, `a version of ${place.package}`, `see \`npm view ${place.package} versions\``)
}

async function install(place: Place, version: string): Promise<Installed> {
  const began = performance.now()
  const spec = `${place.package}@${version}`
  await clear(place.folder)
  const staging = await mkdtemp(join(place.folder, STAGING))
  try {
    place.report(`installing ${spec}`)
    await fill(place, staging, spec)
    await tryOut(place, staging, spec)
    await putInPlace(staging, join(place.folder, version))
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  const result = installed(place, version)
  if (result === null) {
    throw mistake(spec, `a package with the program ${place.vendor.program}`, 'use another version')
  }
  place.report(`installed ${spec} in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return result
}

async function fill(place: Place, staging: string, spec: string): Promise<void> {
  // Of all the packages that come with it, none gets to run anything; HOME may be missing or read-only.
  const quiet = words('--no-audit --no-fund --no-package-lock --no-update-notifier --loglevel=error')
  const places = ['--cache', join(staging, '.npm'), '--prefix', staging]
  await runNpm(place, staging, ['install', '--ignore-scripts', ...quiet, ...places, spec])
  // The agent's own package may need its scripts: some put their native program in place by one.
  const own = join(staging, 'node_modules', place.package)
  const { scripts } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8').catch(() => '{}'))
  for (const script of ['preinstall', 'install', 'postinstall']) {
    if (typeof scripts?.[script] === 'string') await runNpm(place, own, ['run', '--silent', script])
  }
  await rm(join(staging, '.npm'), { recursive: true, force: true })
}

async function tryOut({ vendor, env, signal }: Place, staging: string, spec: string): Promise<void> {
  const path = [join(staging, 'node_modules', '.bin'), env.PATH ?? ''].join(delimiter)
  // Some end at once where HOME is missing or cannot be written.
  const home = join(staging, '.home')
  await mkdir(home)
  const asked = { ...env, PATH: path, HOME: home }
  const found = await available(vendor, asked, signal === undefined ? {} : { signal })
  await rm(home, { recursive: true, force: true })
  if (found.ok) return
  const fix = found.isSlow ? found.fix : 'use another version'
  throw mistake(`${spec}: ${found.reason}`, 'a program that starts', fix)
}

/** What installations that were killed have left: nobody takes as long as twice the time-out. */
async function clear(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(STAGING)) continue
    const left = join(folder, name)
    const since = await stat(left).then((status) => status.mtimeMs, Date.now)
    if (Date.now() - since > 2 * INSTALL_TIMEOUT_MS) await rm(left, { recursive: true, force: true })
  }
}

/** Somebody else may have been faster: then theirs stays, which is the same. */
async function putInPlace(staging: string, place: string): Promise<void> {
  // A temporary folder is its maker's alone; the agent may be another user.
  await chmod(staging, 0o755)
  try {
    await rename(staging, place)
  } catch (error) {
    if (!existsSync(place)) throw error
  }
}

/** In a folder of ours, so that no configuration of the repository is read. Gives npm's output. */
async function runNpm(
  { npm, env, signal, version, package: name }: Place,
  cwd: string,
  args: readonly string[],
  timeoutMs = INSTALL_TIMEOUT_MS,
): Promise<string> {
  const { exit, output } = await runUntrusted({
    file: npm,
    args,
    cwd,
    // npm finds its node beside itself where the PATH has none.
    env: { ...env, PATH: [env.PATH ?? '', dirname(npm)].join(delimiter) },
    timeoutMs,
    captureBytes: 32 * 1024,
    ...(signal === undefined ? {} : { signal }),
  })
  if (exit.kind === 'exit' && exit.code === 0) return output
  const how = exit.kind === 'exit' ? `exit code ${exit.code}` : exit.kind
  const found = `npm ${args[0]}: ${how}: ${oneLine(tellingLines(output))}`
  throw mistake(found, `${name}@${version} from the registry`, fixOf(output))
}

/** npm's own error lines, without its call stack and the name of its log file; else the last of the output. */
function tellingLines(output: string): string {
  const errors = [...output.matchAll(/^npm error (?!\s+at |code |errno |syscall |A complete log )(.*)$/gm)]
  if (errors.length > 0) return errors.map(([, words]) => words).join(' ')
  return output.trim().split('\n').slice(-3).join(' ')
}

function fixOf(output: string): string {
  const code = /^npm error code (\w+)$/m.exec(output)?.[1]
  if (code === 'ETARGET' || code === 'E404') return 'use a version that exists'
  if (code === 'E401' || code === 'E403') return 'the registry refuses: install the agent in a step before'
  return 'run again, or install the agent in a step before and leave agent-version out'
}

function mistake(found: string, expected: string, fix: string): UserError {
  return new UserError({ path: 'agent-version', found, expected, fix })
}
