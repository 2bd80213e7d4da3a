// Installs an agent's npm package at one version, once for each machine: trusted side, without keys, outside the repository.

import { existsSync, statSync } from 'node:fs'
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { asObject, jsonObject } from '../engine/model/json.ts'
import type { FileCache } from '../engine/model/ports.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { readRegularFileSync } from '../system/files.ts'
import { removeFolder } from '../system/orphans.ts'
import { runUntrusted } from '../system/process.ts'
import { findProgram } from '../system/program.ts'
import { type AgentVendor, words } from './agent.ts'
import { type AgentCache, cacheEntryOf, restoreFromCache, saveToCache, versionIn } from './agent-cache.ts'
import { type Availability, checkAgent } from './agent-ready.ts'
import { lineWithoutKeys } from './session-end.ts'

export type InstallRequest = {
  vendor: AgentVendor
  /** A version, a range or a tag. A version may be followed by the integrity that its package must have. */
  version: string
  /** Without keys: what npm and the package's own scripts see (untrusted-env.ts, `gateEnv`). */
  env: Readonly<Record<string, string>>
  /** Folders for installed agents: the first that has this one is used, else the first that can be written. */
  caches: readonly string[]
  /** Keeps the installed agent for later jobs; left out if there is no cache. */
  cache?: InstalledAgentCache | null
  signal?: AbortSignal
  /** Called once before and once after an installation; not at all if the agent is installed already. */
  report(line: string): void
}

type InstalledAgentCache = {
  files: FileCache
  /** Starts the program of a restored folder as the agent's user and without a key, because the folder is untrusted. */
  checkRestored(bin: string): Promise<Availability>
}

/** `bin` goes to the front of the agent's PATH. */
export type Installed = { version: string; bin: string }

const INSTALL_TIMEOUT_MS = 10 * 60_000
const ASK_TIMEOUT_MS = 60_000
const MAX_LOCK_BYTES = 16 * 1024 * 1024
const STAGING = '.installing-'
/** Prefix of folders that were restored from the cache. npm did not verify them, so they are not used if an integrity is set. */
const RESTORED = 'restored-'
/** A version, a range or a tag. npm would read other texts as a folder, an address or an option. */
const SPEC = /^[\w^~][\w.^~+-]*$/
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/

/** Where root installs what another user has to start: its own home is closed to others on most machines. */
const SHARED_CACHE = '/var/cache'

/**
 * Where agents are installed: the runner's tool cache or the user's cache folder, and `last`, which is Ralph's own folder.
 * `isForOthers`: another user starts them, so folders that it cannot enter are left out.
 */
export function agentCaches(
  env: Readonly<Record<string, string | undefined>>,
  last: string,
  isForOthers = false,
): string[] {
  const { RUNNER_TOOL_CACHE: tools, XDG_CACHE_HOME: cache, HOME: home } = env
  const known = [tools, cache, home === undefined ? home : join(home, '.cache')]
  const usable = known.flatMap((folder) =>
    folder?.startsWith('/') && (!isForOthers || canOthersEnter(folder)) ? [folder] : [],
  )
  if (isForOthers && usable.length === 0) usable.push(SHARED_CACHE)
  return [...usable.slice(0, 1).map((folder) => join(folder, 'ralph-agents')), last]
}

/** Whether every user may pass through the folder, and through those above it. Folders that are still to be made count as open. */
function canOthersEnter(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0o001
  return (mode & 0o001) !== 0 && (dirname(folder) === folder || canOthersEnter(dirname(folder)))
}

/** The form of the registry's `dist.integrity` and of npm's lock files. */
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/

/**
 * The folder with the agent's program at this version, `<cache>/<agent>/<version>/node_modules/.bin`, or `restored-<version>` if it came
 * from GitHub's cache. A rename puts it there when it is complete, so that a killed installation is never used. Two installations at the
 * same time do no harm.
 * Throws UserError if there is no package, no npm, no such version, or a program that does not start.
 */
export async function installAgent(request: InstallRequest): Promise<Installed> {
  const { vendor } = request
  const [version = '', integrity = null, ...rest] = request.version.split(' ')
  const isExact = EXACT.test(version)
  if (vendor.npm === null) {
    const fix = `leave agent-version out, and install ${vendor.name} in an earlier step: ${vendor.install}`
    throw mistake(`${vendor.name} has no npm package, so Ralph cannot install version ${version}.`, '', fix)
  }
  if (!SPEC.test(version)) {
    throw mistake(version, 'a version, a range or a tag', 'write a version such as 1.2.3, or latest')
  }
  if (rest.length > 0 || (integrity !== null && !(isExact && INTEGRITY.test(integrity)))) {
    const fix = `write what \`npm view ${vendor.npm}@1.2.3 dist.integrity\` prints: 1.2.3 sha512-...`
    throw mistake(request.version, 'one version and its integrity', fix)
  }
  const packageRequest = { ...request, version, integrity, package: vendor.npm }
  const found = isExact ? await findInstalled(packageRequest) : null
  if (found !== null) return found
  const npm = findProgram('npm', request.env.PATH ?? '')
  if (npm === null) {
    const fix =
      'set up Node.js with npm in an earlier step, or install the agent there and leave agent-version out'
    throw mistake(`npm, which installs version ${version}, is not on the PATH.`, '', fix)
  }
  const target = { ...packageRequest, npm, folder: await firstWritable(packageRequest) }
  if (isExact) return install(target)
  const exact = { ...target, version: await exactVersion(target) }
  return (await findInstalled(exact)) ?? (await install(exact))
}

type PackageRequest = InstallRequest & { package: string; integrity: string | null }
type InstallTarget = PackageRequest & { npm: string; folder: string }

async function findInstalled(request: PackageRequest): Promise<Installed | null> {
  const { caches, vendor, version } = request
  const names = request.integrity === null ? [version, `${RESTORED}${version}`] : [version]
  const folders = names.flatMap((name) => caches.map((cache) => join(cache, vendor.name, name)))
  const bins = folders.map((folder) => join(folder, 'node_modules', '.bin'))
  const at = bins.findIndex((bin) => existsSync(join(bin, vendor.program)))
  if (at < 0) return null
  await checkIntegrity(request, folders[at] ?? '')
  return { version, bin: bins[at] ?? '' }
}

/** The integrity in npm's lock file, which npm writes after it has verified the package; null if it cannot be read. */
function integrityOf({ package: name }: PackageRequest, folder: string): string | null {
  const bytes = readRegularFileSync(join(folder, 'node_modules', '.package-lock.json'), MAX_LOCK_BYTES)
  const packages = asObject(jsonObject(bytes?.toString('utf8') ?? '')?.packages)
  const found = asObject(packages?.[`node_modules/${name}`])?.integrity
  return typeof found === 'string' ? found : null
}

async function checkIntegrity(request: PackageRequest, folder: string): Promise<void> {
  if (request.integrity === null) return
  const found = integrityOf(request, folder)
  if (found === request.integrity) return
  const packageFound = `${request.package}@${request.version} with ${found ?? 'no integrity'}`
  const fix =
    'find out why the integrity differs before you change agent-version. Ralph has not run any code from it'
  throw mistake(packageFound, request.integrity, fix)
}

async function firstWritable({ caches, vendor, version }: PackageRequest): Promise<string> {
  const refused: string[] = []
  for (const folder of caches.map((cache) => join(cache, vendor.name))) {
    try {
      await mkdir(folder, { recursive: true })
      // Independent of the umask. A folder of someone else stays unchanged.
      for (const made of [dirname(folder), folder]) await chmod(made, 0o755).catch(() => {})
      await access(folder, constants.W_OK)
      return folder
    } catch (error) {
      refused.push(messageOf(error))
    }
  }
  throw mistake(
    `there is no folder to install ${vendor.name} ${version} into.`,
    '',
    `make one of these folders writable: ${lineWithoutKeys(refused.join('; '))}`,
  )
}

/** Asks the registry for the newest version of a range or a tag. */
async function exactVersion(target: InstallTarget): Promise<string> {
  const cache = join(target.folder, '.npm')
  const args = ['view', `${target.package}@${target.version}`, 'version', '--json', '--cache', cache]
  const output = await runNpm(target, target.folder, args, ASK_TIMEOUT_MS)
  await rm(cache, { recursive: true, force: true })
  const newest = [...output.matchAll(/"(\d+\.\d+\.\d+[^"]*)"/g)].at(-1)?.[1] ?? ''
  if (EXACT.test(newest)) return newest
  throw mistake(
    `${target.package} has no version ${target.version}.`,
    '',
    `see \`npm view ${target.package} versions\``,
  )
}

async function install(target: InstallTarget): Promise<Installed> {
  const { version, report } = target
  const began = performance.now()
  const spec = `${target.package}@${version}`
  await removeLeftovers(target.folder)
  const agentCache = await cacheFor(target, spec)
  const isRestored =
    agentCache !== null &&
    (await fillStaging(target, `${RESTORED}${version}`, (staging) => restore(target, staging, agentCache)))
  if (!isRestored) {
    await fillStaging(target, version, async (staging) => {
      report(`installing ${spec}`)
      await installPackage(target, staging, spec)
      await checkProgram(target, staging, spec)
      if (agentCache !== null) await saveToCache(staging, agentCache)
      return true
    })
  }
  const result = await findInstalled(target)
  if (result === null) {
    throw mistake(`${spec} has no program ${target.vendor.program}.`, '', 'use another version')
  }
  const action = isRestored ? 'restored from the cache' : 'installed'
  report(`${action} ${spec} in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  // A restored lock file is untrusted, so its integrity is not recommended.
  const isAdvised = target.integrity === null && !isRestored
  const found = isAdvised ? integrityOf(target, join(target.folder, version)) : null
  const pinned = `agent-version: ${version} ${found}`
  if (found !== null) report(`agent-version has no checksum. To accept only this download, write ${pinned}`)
  return result
}

/** Null if no cache is used. It is not used with an integrity, because a folder cannot be compared with a package's hash. */
async function cacheFor(target: InstallTarget, spec: string) {
  const { cache = null, env, signal, report, integrity, vendor } = target
  if (cache === null || integrity !== null) return null
  try {
    const entry = cacheEntryOf(vendor.name, spec, { env, registry: await registryOf(target) })
    const { files, checkRestored } = cache
    return { cache: files, entry, checkRestored, env, report, ...(signal === undefined ? {} : { signal }) }
  } catch (error) {
    report(
      `Ralph could not use the cache (to stop using it, set cache: off): ${lineWithoutKeys(messageOf(error))}`,
    )
    return null
  }
}

/** The registry from which npm would get the package, by its configuration. Makes no request. */
function registryOf(target: InstallTarget): Promise<string> {
  const [scope = '', name] = target.package.split('/')
  const settings = ['registry', ...(name === undefined ? [] : [`${scope}:registry`])]
  const quiet = words('--no-update-notifier --loglevel=error --logs-max=0')
  return runNpm(target, target.folder, ['config', 'get', ...settings, ...quiet], ASK_TIMEOUT_MS)
}

/** Fills a temporary folder, and renames it to `name` when it is complete. */
async function fillStaging(
  target: InstallTarget,
  name: string,
  work: (staging: string) => Promise<boolean>,
): Promise<boolean> {
  const folder = join(target.folder, name)
  const staging = await mkdtemp(join(target.folder, STAGING))
  try {
    // mkdtemp closes the folder to other users, and the agent may be one.
    await chmod(staging, 0o755)
    if (!(await work(staging))) return false
    await rename(staging, folder).catch((error: unknown) => {
      // Another process may have installed the same version meanwhile: then its folder stays.
      if (!existsSync(folder)) throw error
    })
    return true
  } finally {
    await removeFolder(staging)
  }
}

/** Whether the cache had this version, complete, and with a program that starts. */
async function restore(
  target: InstallTarget,
  staging: string,
  agentCache: AgentCache & Pick<InstalledAgentCache, 'checkRestored'>,
): Promise<boolean> {
  const spec = `${target.package}@${target.version}`
  if (!(await restoreFromCache(staging, agentCache))) return false
  try {
    const found = versionIn(staging, target.package)
    if (found !== target.version) throw new Error(`its version is ${lineWithoutKeys(found ?? 'none')}`)
    const bin = join(staging, 'node_modules', '.bin')
    // Without this check, another program of that name on the PATH would be started.
    if (findProgram(target.vendor.program, bin) === null)
      throw new Error(`it has no program ${target.vendor.program}`)
    requireReady(await agentCache.checkRestored(bin), spec)
    return true
  } catch (error) {
    target.report(`the cache has no usable ${spec}: ${messageOf(error)}`)
    return false
  }
}

async function installPackage(target: InstallTarget, staging: string, spec: string): Promise<void> {
  // No install script of a dependency runs. npm's cache is set, because HOME may be missing or read-only.
  const quiet = words('--no-audit --no-fund --no-package-lock --no-update-notifier --loglevel=error')
  const places = ['--cache', join(staging, '.npm'), '--prefix', staging]
  await runNpm(target, staging, ['install', '--ignore-scripts', ...quiet, ...places, spec])
  await checkIntegrity(target, staging)
  // The agent's own package may need its scripts, and so may the one that its program is in: some install a native program by one.
  for (const name of new Set([target.package, await packageOfProgram(target, staging)]))
    await runScripts(target, join(staging, 'node_modules', name))
  await rm(join(staging, '.npm'), { recursive: true, force: true })
}

async function runScripts(target: InstallTarget, folder: string): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}'))
  for (const script of ['preinstall', 'install', 'postinstall'])
    if (typeof scripts?.[script] === 'string') await runNpm(target, folder, ['run', '--silent', script])
}

/** The package that npm's link to the agent's program leads to; the agent's own if there is no such link. */
async function packageOfProgram({ vendor, package: own }: InstallTarget, staging: string): Promise<string> {
  const link = await readlink(join(staging, 'node_modules', '.bin', vendor.program)).catch(() => '')
  return /^\.\.\/((?:@[\w.-]+\/)?[\w-][\w.-]*)\//.exec(link)?.[1] ?? own
}

async function checkProgram(
  { vendor, env, signal }: InstallTarget,
  staging: string,
  spec: string,
): Promise<void> {
  const path = [join(staging, 'node_modules', '.bin'), env.PATH ?? ''].join(delimiter)
  // Some agents end at once if HOME is missing or cannot be written.
  const home = join(staging, '.home')
  await mkdir(home)
  const checkEnv = { ...env, PATH: path, HOME: home }
  const found = await checkAgent(vendor, checkEnv, signal === undefined ? {} : { signal })
  await rm(home, { recursive: true, force: true })
  requireReady(found, spec)
}

function requireReady(found: Availability, spec: string): void {
  if (found.ok) return
  const fix = found.isSlow ? found.fix : 'use another version'
  throw mistake(`${spec} does not start: ${found.reason}`, '', fix)
}

/** Removes staging folders of killed installations: those older than twice the time-out. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(STAGING)) continue
    const leftover = join(folder, name)
    const since = await stat(leftover).then((status) => status.mtimeMs, Date.now)
    if (Date.now() - since > 2 * INSTALL_TIMEOUT_MS) await rm(leftover, { recursive: true, force: true })
  }
}

/** Runs npm in one of Ralph's folders, so that it reads no configuration of the repository. Returns its output. */
async function runNpm(
  { npm, env, signal, version, package: name }: InstallTarget,
  cwd: string,
  args: readonly string[],
  timeoutMs = INSTALL_TIMEOUT_MS,
): Promise<string> {
  const { exit, output } = await runUntrusted({
    file: npm,
    args,
    cwd,
    // If the PATH has no node, npm finds the one in its own folder.
    env: { ...env, PATH: [env.PATH ?? '', dirname(npm)].join(delimiter) },
    timeoutMs,
    captureBytes: 32 * 1024,
    ...(signal === undefined ? {} : { signal }),
  })
  if (exit.kind === 'exit' && exit.code === 0) return output
  const exitText = exit.kind === 'exit' ? `exit code ${exit.code}` : exit.kind
  const found = `npm ${args[0]} could not get ${name}@${version} from the registry (${exitText}): ${lineWithoutKeys(npmErrors(output))}`
  throw mistake(found, '', fixOf(output))
}

/** npm's own error lines, without its call stack and the name of its log file; else the last of the output. */
function npmErrors(output: string): string {
  const errors = [...output.matchAll(/^npm error (?!\s+at |code |errno |syscall |A complete log )(.*)$/gm)]
  if (errors.length > 0) return errors.map(([, words]) => words).join(' ')
  return output.trim().split('\n').slice(-3).join(' ')
}

function fixOf(output: string): string {
  const code = /^npm error code (\w+)$/m.exec(output)?.[1]
  if (code === 'ETARGET' || code === 'E404') return 'use a version that exists'
  if (code === 'E401' || code === 'E403')
    return 'the registry refuses access: log in to it, or install the agent in an earlier step'
  return 'run again, or install the agent in an earlier step and omit agent-version'
}

function mistake(found: string, expected: string, fix: string): UserError {
  return new UserError({ path: 'agent-version', found, expected, fix })
}
