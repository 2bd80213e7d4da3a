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
  /** Once before the installation and once after it; nothing when it is there already. */
  report(line: string): void
}

/** `bin` goes to the front of the agent's PATH. */
export type Installed = { version: string; bin: string }

const INSTALL_TIMEOUT_MS = 10 * 60_000
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
  const folder = await firstWritable(request)
  const installation = new Installation(request, vendor.npm, npm, folder)
  const version = EXACT.test(spec) ? spec : await installation.exactVersion()
  return installed(request, version) ?? (await installation.run(version))
}

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

class Installation {
  readonly #request: InstallRequest
  readonly #package: string
  readonly #npm: string
  readonly #folder: string

  constructor(request: InstallRequest, name: string, npm: string, folder: string) {
    this.#request = request
    this.#package = name
    this.#npm = npm
    this.#folder = folder
  }

  /** Asks the registry what a range or a tag stands for now. */
  async exactVersion(): Promise<string> {
    const cache = join(this.#folder, '.npm')
    const spec = `${this.#package}@${this.#request.version}`
    const output = await this.#runNpm(this.#folder, ['view', spec, 'version', '--json', '--cache', cache])
    await rm(cache, { recursive: true, force: true })
    const newest = [...output.matchAll(/"(\d+\.\d+\.\d+[^"]*)"/g)].at(-1)?.[1]
    if (newest !== undefined && EXACT.test(newest)) return newest
    const fix = `see \`npm view ${this.#package} versions\``
    throw mistake(this.#request.version, `a version of ${this.#package}`, fix)
  }

  async run(version: string): Promise<Installed> {
    const began = performance.now()
    const { report, vendor } = this.#request
    const spec = `${this.#package}@${version}`
    await this.#clear()
    const staging = await mkdtemp(join(this.#folder, STAGING))
    try {
      report(`installing ${spec}`)
      await this.#fill(staging, spec)
      await this.#tryOut(staging, spec)
      await putInPlace(staging, join(this.#folder, version))
    } finally {
      await rm(staging, { recursive: true, force: true })
    }
    const result = installed(this.#request, version)
    if (result === null) {
      throw mistake(spec, `a package with the program ${vendor.program}`, 'use another version')
    }
    report(`installed ${spec} in ${((performance.now() - began) / 1000).toFixed(1)} s`)
    return result
  }

  async #fill(staging: string, spec: string): Promise<void> {
    // Of all the packages that come with it, none gets to run anything; HOME may be missing or read-only.
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier', '--loglevel=error']
    const places = ['--cache', join(staging, '.npm'), '--prefix', staging]
    await this.#runNpm(staging, ['install', '--ignore-scripts', ...quiet, ...places, spec])
    // The agent's own package may need its scripts: some put their native program in place by one.
    const own = join(staging, 'node_modules', this.#package)
    const { scripts } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8').catch(() => '{}'))
    for (const script of ['preinstall', 'install', 'postinstall']) {
      if (typeof scripts?.[script] === 'string') await this.#runNpm(own, ['run', '--silent', script])
    }
    await rm(join(staging, '.npm'), { recursive: true, force: true })
  }

  async #tryOut(staging: string, spec: string): Promise<void> {
    const { vendor, env, signal } = this.#request
    const path = [join(staging, 'node_modules', '.bin'), env.PATH ?? ''].join(delimiter)
    const options = signal === undefined ? {} : { signal }
    const found = await available(vendor, { ...env, PATH: path }, options)
    if (found.ok) return
    const fix = found.isSlow ? found.fix : 'use another version'
    throw mistake(`${spec}: ${found.reason}`, 'a program that starts', fix)
  }

  /** What installations that were killed have left: nobody takes as long as twice the time-out. */
  async #clear(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith(STAGING)) continue
      const left = join(this.#folder, name)
      const age = await stat(left).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      )
      if (age > 2 * INSTALL_TIMEOUT_MS) await rm(left, { recursive: true, force: true })
    }
  }

  /** In a folder of ours, so that no configuration of the repository is read. Gives npm's output. */
  async #runNpm(cwd: string, args: readonly string[]): Promise<string> {
    const { env, signal, version } = this.#request
    const { exit, output } = await runUntrusted({
      file: this.#npm,
      args,
      cwd,
      // npm finds its node beside itself where the PATH has none.
      env: { ...env, PATH: [env.PATH ?? '', dirname(this.#npm)].join(delimiter) },
      timeoutMs: INSTALL_TIMEOUT_MS,
      captureBytes: 32 * 1024,
      ...(signal === undefined ? {} : { signal }),
    })
    if (exit.kind === 'exit' && exit.code === 0) return output
    const how = exit.kind === 'exit' ? `exit code ${exit.code}` : exit.kind
    const found = `npm ${args[0]}: ${how}: ${oneLine(tellingLines(output))}`
    throw mistake(found, `${this.#package}@${version} from the registry`, fixOf(output))
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
