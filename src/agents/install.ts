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
import type { AgentVendor } from './agent.ts'
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
  /** Told once before the installation and once after it; nothing when it is there already. */
  say(line: string): void
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
  const user = cache?.startsWith('/') ? cache : home?.startsWith('/') ? join(home, '.cache') : null
  const first = tools?.startsWith('/') ? tools : user
  return [...(first === null ? [] : [join(first, 'ralph-agents')]), last]
}

/**
 * The folder with the agent's program at this version, `<cache>/<agent>/<version>/node_modules/.bin`. It appears there
 * whole, by a rename, so a killed installation leaves nothing that looks like one, and two at a time do no harm.
 * Throws UserError where there is no package, no npm, no such version, or a program that does not start.
 */
export async function installAgent(request: InstallRequest): Promise<Installed> {
  const { vendor, version: spec } = request
  if (vendor.npm === null) {
    throw mistake(
      spec,
      'an agent with an npm package',
      `leave it out and install it before: ${vendor.install}`,
    )
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
  const version = EXACT.test(spec) ? spec : await exactVersion(request, npm, vendor.npm)
  return installed(request, version) ?? (await install(request, npm, vendor.npm, version))
}

function installed(request: InstallRequest, version: string): Installed | null {
  for (const cache of request.caches) {
    const bin = join(cache, request.vendor.name, version, 'node_modules', '.bin')
    if (existsSync(join(bin, request.vendor.program))) return { version, bin }
  }
  return null
}

/** What installations that were killed have left: nobody takes as long as twice the time-out. */
async function clear(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const left = join(folder, name)
    const old = async () => Date.now() - (await stat(left)).mtimeMs > 2 * INSTALL_TIMEOUT_MS
    if (name.startsWith(STAGING) && (await old().catch(() => false))) {
      await rm(left, { recursive: true, force: true })
    }
  }
}

/** Asks the registry what a range or a tag stands for now. */
async function exactVersion(request: InstallRequest, npm: string, name: string): Promise<string> {
  const folder = await firstWritable(request)
  const args = ['view', `${name}@${request.version}`, 'version', '--json', '--cache', join(folder, '.npm')]
  const output = await runNpm(request, npm, folder, args, ASK_TIMEOUT_MS)
  const versions = [...output.matchAll(/"(\d+\.\d+\.\d+[^"]*)"/g)].flatMap(([, one]) => one ?? [])
  await rm(join(folder, '.npm'), { recursive: true, force: true })
  const newest = versions.at(-1)
  if (newest !== undefined && EXACT.test(newest)) return newest
  throw mistake(request.version, `a version of ${name}`, `see \`npm view ${name} versions\``)
}

async function install(
  request: InstallRequest,
  npm: string,
  name: string,
  version: string,
): Promise<Installed> {
  const { vendor, say } = request
  const began = performance.now()
  const folder = await firstWritable(request)
  await clear(folder)
  const staging = await mkdtemp(join(folder, STAGING))
  try {
    say(`installing ${name}@${version}`)
    await runNpm(request, npm, staging, [
      'install',
      // Of all the packages that come with it, none gets to run anything.
      '--ignore-scripts',
      ...['--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier', '--loglevel=error'],
      // HOME may be missing or read-only.
      ...['--cache', join(staging, '.npm')],
      ...['--prefix', staging],
      `${name}@${version}`,
    ])
    await ownScripts(request, npm, join(staging, 'node_modules', name))
    await rm(join(staging, '.npm'), { recursive: true, force: true })
    await tryOut(request, staging, `${name}@${version}`)
    await putInPlace(staging, join(folder, version))
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  const result = installed(request, version)
  if (result === null) {
    throw mistake(`${name}@${version}`, `a package with the program ${vendor.program}`, 'use another version')
  }
  say(`installed ${name}@${version} in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return result
}

/** The agent's own package may need its scripts: claude and opencode put their native program in place by one. */
async function ownScripts(request: InstallRequest, npm: string, folder: string): Promise<void> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')
  const { scripts } = JSON.parse(text)
  for (const script of ['preinstall', 'install', 'postinstall']) {
    if (typeof scripts?.[script] === 'string') await runNpm(request, npm, folder, ['run', '--silent', script])
  }
}

async function tryOut(request: InstallRequest, staging: string, what: string): Promise<void> {
  const bin = join(staging, 'node_modules', '.bin')
  const path = [bin, request.env.PATH ?? ''].join(delimiter)
  const { vendor, env, signal } = request
  const found = await available(vendor, { ...env, PATH: path }, signal === undefined ? {} : { signal })
  if (!found.ok)
    throw mistake(
      `${what}: ${found.reason}`,
      'a program that starts',
      found.isSlow ? found.fix : 'use another version',
    )
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

async function firstWritable(request: InstallRequest): Promise<string> {
  const refused: string[] = []
  for (const cache of request.caches) {
    const folder = join(cache, request.vendor.name)
    try {
      await mkdir(folder, { recursive: true })
      await access(folder, constants.W_OK)
      return folder
    } catch (error) {
      refused.push(messageOf(error))
    }
  }
  throw mistake(
    request.version,
    'a folder to install it into',
    `make one writable: ${oneLine(refused.join('; '))}`,
  )
}

/** Runs npm in a folder of ours, so that no configuration of the repository is read. Gives its output. */
async function runNpm(
  request: InstallRequest,
  npm: string,
  cwd: string,
  args: readonly string[],
  timeoutMs = INSTALL_TIMEOUT_MS,
): Promise<string> {
  const { exit, output } = await runUntrusted({
    file: npm,
    args,
    cwd,
    // npm finds its node beside itself where the PATH has none.
    env: { ...request.env, PATH: [request.env.PATH ?? '', dirname(npm)].join(delimiter) },
    timeoutMs,
    captureBytes: 32 * 1024,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  })
  if (exit.kind === 'exit' && exit.code === 0) return output
  const how = exit.kind === 'exit' ? `exit code ${exit.code}` : exit.kind
  const found = `npm ${args[0]}: ${how}: ${oneLine(tellingLines(output))}`
  throw mistake(found, `${request.vendor.npm}@${request.version} from the registry`, fixOf(output))
}

/** npm's own error lines, without its call stack and the name of its log file; else the last of the output. */
function tellingLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const errors = lines
    .flatMap((line) => /^npm error (.*)$/.exec(line)?.[1] ?? [])
    .filter((line) => !/^(?:\s+at |code |errno |syscall |A complete log of this run)/.test(line))
  return (errors.length > 0 ? errors : lines.slice(-3)).join(' ')
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
