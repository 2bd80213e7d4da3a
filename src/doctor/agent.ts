// The agents that work: whether their programs start, and whether they have a key. No key is ever shown.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AgentVendor } from '../agents/agent.ts'
import { missingProgram } from '../agents/available.ts'
import { keyTrouble, mayBeLoggedIn } from '../agents/login.ts'
import { agentNames, findAgent } from '../agents/registry.ts'
import { askVersion, homesOf, keyMend, wishesOf } from '../app/agents.ts'
import { agentsIn } from '../model/pipeline.ts'
import { oneLine } from '../model/text.ts'
import { findProgram } from '../system/program.ts'
import { agentEnv } from '../system/untrusted-env.ts'
import { fault, fine, type Result, unknown, warning } from './result.ts'
import { checkoutOf, type Subject } from './subject.ts'

type Chosen = { vendor: AgentVendor; version: string | null; suffix: string }

function chosenIn({ settings }: Subject): Chosen[] {
  const { agent, agentVersion, fallbackAgent, steps } = settings
  const first = { vendor: findAgent(agent), version: agentVersion, suffix: '' }
  const second = { vendor: findAgent(fallbackAgent ?? ''), version: null, suffix: ' (fallback)' }
  const others = agentsIn(steps).filter((name) => name !== agent && name !== fallbackAgent)
  const ofSteps = others.map((name) => ({
    vendor: findAgent(name),
    version: null,
    suffix: ` (${name}, of steps)`,
  }))
  return [first, second, ...ofSteps].flatMap(({ vendor, ...rest }) =>
    vendor === null ? [] : [{ vendor, ...rest }],
  )
}

export async function agents(subject: Subject, signal: AbortSignal): Promise<Result[]> {
  const results: Result[] = []
  for (const chosen of chosenIn(subject))
    results.push({ ...(await program(chosen, subject, signal)), name: `agent${chosen.suffix}` })
  if (results.length > 0) return results
  return [fault(subject.settings.agent, 'an agent of this version', `use one of ${agentNames.join(', ')}`)]
}

async function program({ vendor, version }: Chosen, subject: Subject, signal: AbortSignal): Promise<Result> {
  const { env, settings } = subject
  if (vendor.name === 'custom')
    return custom(
      settings.agentCommand ?? '',
      env.PATH ?? '',
      resolve(subject.directory, settings.workingDirectory),
    )
  if (version !== null) return fine(`${vendor.name} ${version}, which Ralph installs when a job begins`)
  const expected = `the program ${vendor.program}, ready to work`
  if (settings.isolation !== 'other-user') {
    const missing = missingProgram(vendor, env.PATH ?? '')
    if (missing !== null) return fault(missing.reason, expected, missing.fix)
  }
  const { workspace } = checkoutOf(subject)
  const as = (await subject.isolation().catch(() => null))?.agent ?? null
  const homes = await homesOf(vendor, { env, workspace }, as)
  const found = await askVersion(vendor, homes, env, { settings, as, signal })
  if (found.ok) return fine(`${vendor.name} ${found.version}`)
  return found.isSlow ? unknown(found.reason, found.fix) : fault(found.reason, expected, found.fix)
}

/** Its first word is looked up, and the script that it names; what a shell makes of the rest shows when it runs. */
function custom(command: string, path: string, directory: string): Result {
  const shown = `custom: ${oneLine(command, 80)}`
  const [, , first = '', , second = ''] =
    /^\s*(?:exec\s+)?(["']?)([\w./+-]+)\1(?:\s+(["']?)([\w./+-]+)\3)?(?=\s|$)/.exec(command) ?? []
  const isPath = (word: string) => word.includes('/') || /\.(?:[cm]?[jt]s|sh|py|rb|pl)$/.test(word)
  const isThere = (word: string) => existsSync(resolve(directory, word))
  const isProgram = first.includes('/') ? isThere(first) : findProgram(first, path) !== null
  const missing = first !== '' && !isProgram ? first : isPath(second) && !isThere(second) ? second : null
  if (missing === null) return fine(shown)
  const where = isPath(missing) ? `not in ${directory}` : 'not on the PATH'
  return warning(
    `${shown}, and ${missing} is ${where}`,
    'a program that is there',
    'install it, or mend its path',
  )
}

export async function keys(subject: Subject): Promise<Result[]> {
  const results: Result[] = []
  for (const { vendor, version, suffix } of chosenIn(subject)) {
    const result = await key(vendor, version, subject)
    if (result !== null) results.push({ ...result, name: `key${suffix}` })
  }
  return results
}

async function key(vendor: AgentVendor, version: string | null, subject: Subject): Promise<Result | null> {
  const { login } = vendor
  if (login === null) return null
  const { settings, directory } = subject
  const isOther = settings.isolation === 'other-user'
  const { env } = agentEnv(subject.env, wishesOf(vendor, settings))
  const why = await keyTrouble({
    // The other user's home is new.
    login: isOther ? { ...login, files: [] } : login,
    env,
    extraEnv: settings.agentEnv,
    cwd: resolve(directory, settings.workingDirectory),
  })
  const isSet = (name: string) => (env[name] ?? '').trim() !== ''
  const set = [...login.keys, ...login.others, ...settings.agentEnv].find(isSet)
  if (why === null) return fine(set === undefined ? `${vendor.name} has a login here` : `${set} is set`)
  const expected = `a key in ${login.keys.join(' or ')}`
  const first = login.keys[0] ?? ''
  const isAction = settings.surface === 'action'
  const mend = isAction
    ? keyMend(first)
    : `log in with ${vendor.program}, or set ${first} (export ${first}=...)`
  const isWrapped = settings.agentWrapper !== null || settings.agentArgs.length > 0
  const how = { platform: process.platform, isInstalledByUs: version !== null, isWrapped }
  if (login.keys.some(isSet) || !mayBeLoggedIn(subject.env, how)) return fault(why, expected, mend)
  return warning(`${why}; a keychain may hold one`, expected, mend)
}
