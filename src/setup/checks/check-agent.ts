// The agents that work: whether their programs start, and whether they have a key. No key is ever shown.
import { resolve } from 'node:path'
import type { AgentVendor } from '../../agents/agent.ts'
import { findKeyProblem, mayBeLoggedIn, missingProgram } from '../../agents/agent-ready.ts'
import { agentNames, findAgent } from '../../agents/registry.ts'
import { agentEnvOptions, checkVersion, chosenAgents, keyFix, openAgentHomes } from '../../app/agents.ts'
import { oneLine } from '../../engine/model/text.ts'
import { agentEnv } from '../../isolation/untrusted-env.ts'
import { isFolderSync } from '../../system/files.ts'
import { runUntrusted } from '../../system/process.ts'
import { findProgram } from '../../system/program.ts'
import {
  type CheckResult,
  faultResult,
  okResult,
  requireCheckout,
  type Subject,
  unknownResult,
  warningResult,
} from './subject.ts'

type ChosenAgent = { vendor: AgentVendor; version: string | null; suffix: string }

function chosenIn({ settings }: Subject): ChosenAgent[] {
  return chosenAgents(settings).flatMap(({ path, name, version }) => {
    const vendor = findAgent(name)
    const suffix = path === 'steps' ? ` (${name}, of steps)` : path === 'agent' ? '' : ' (fallback)'
    return vendor === null ? [] : [{ vendor, version, suffix }]
  })
}

export async function checkAgents(subject: Subject): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const chosen of chosenIn(subject))
    results.push({ ...(await checkProgram(chosen, subject)), name: `agent${chosen.suffix}` })
  if (results.length > 0) return results
  return [
    faultResult(
      `Ralph does not know the agent ${subject.settings.agent}`,
      '',
      `use one of ${agentNames.join(', ')}`,
    ),
  ]
}

async function checkProgram({ vendor, version }: ChosenAgent, subject: Subject): Promise<CheckResult> {
  const { env, settings, signal } = subject
  if (vendor.name === 'custom') return checkCustomCommand(vendor, subject)
  if (version !== null) return okResult(`${vendor.name} ${version}, which Ralph installs when a job begins`)
  if (settings.isolation !== 'other-user') {
    const missing = missingProgram(vendor, env.PATH ?? '')
    if (missing !== null) return faultResult(missing.reason, '', missing.fix)
  }
  const { workspace } = requireCheckout(subject)
  const as = (await subject.isolation().catch(() => null))?.agent ?? null
  const homes = await openAgentHomes(vendor, { env, workspace }, as)
  const availability = await checkVersion(vendor, homes, env, { settings, signal })
  if (availability.ok) return okResult(`${vendor.name} ${availability.version}`)
  return availability.isSlow
    ? unknownResult(availability.reason, availability.fix)
    : faultResult(availability.reason, '', availability.fix)
}

/** Where the command line begins with a plain word: the variables before it are left out. */
const FIRST_WORD = /^\s*(?:\w+=[\w./:-]*\s+)*([\w./@%+:-]+)(?=\s|$)/

/** Whether bash finds the first word of the user's own command, as it will when a session begins. */
async function checkCustomCommand(vendor: AgentVendor, subject: Subject): Promise<CheckResult> {
  const { settings, signal } = subject
  const line = settings.agentCommand ?? ''
  const found = `custom: ${oneLine(line, 80)}`
  const word = FIRST_WORD.exec(line)?.[1]
  const cwd = resolve(subject.directory, settings.workingDirectory)
  const { env } = agentEnv(subject.env, agentEnvOptions(vendor, settings))
  const bash = findProgram(vendor.program, env.PATH ?? '')
  if (bash === null) return faultResult(`${vendor.program} is not on your PATH`, '', vendor.install)
  // The other user's PATH and files cannot be checked from here.
  if (word === undefined || settings.isolation === 'other-user' || !isFolderSync(cwd)) return okResult(found)
  const args = ['--norc', '-c', 'command -v -- "$1"', 'agent-command', word]
  const limits = { timeoutMs: 10_000, captureBytes: 4096 }
  const { exit } = await runUntrusted({ file: bash, args, env, cwd, signal, ...limits })
  if (exit.kind !== 'exit' || exit.code === 0) return okResult(found)
  const fix = `install ${word}, or write its path in agent-command: absolute, or relative to the working directory`
  return faultResult(`${found}: bash cannot find ${word}`, '', fix)
}

export async function checkKeys(subject: Subject): Promise<CheckResult[]> {
  const results = await Promise.all(
    chosenIn(subject).map(async (chosen) => {
      const result = await checkKey(chosen, subject)
      return result === null ? [] : [{ ...result, name: `key${chosen.suffix}` }]
    }),
  )
  return results.flat()
}

async function checkKey({ vendor, version }: ChosenAgent, subject: Subject): Promise<CheckResult | null> {
  const { login } = vendor
  if (login === null) return null
  const { settings } = subject
  if (settings.auth === 'oidc' && vendor.keyless !== undefined)
    return okResult('no key is stored, because auth is oidc')
  const { env } = agentEnv(subject.env, agentEnvOptions(vendor, settings))
  const problem = await findKeyProblem({
    // The other user's home is new.
    login: settings.isolation === 'other-user' ? { ...login, files: [] } : login,
    env,
    extraEnv: settings.agentEnv,
    cwd: resolve(subject.directory, settings.workingDirectory),
  })
  const isSet = (name: string) => (env[name] ?? '').trim() !== ''
  const set = [...login.keys, ...login.alternatives, ...settings.agentEnv].find(isSet)
  if (problem === null)
    return okResult(set === undefined ? `${vendor.name} has a login here` : `${set} is set`)
  const first = login.keys[0] ?? ''
  const loginFix = `log in with ${vendor.program}, or export ${first}=...`
  const fix = settings.surface === 'action' ? keyFix(first) : loginFix
  const isWrapped = settings.agentWrapper !== null || settings.agentArgs.length > 0
  const conditions = { platform: process.platform, isInstalledByUs: version !== null, isWrapped }
  const isCertain = login.keys.some(isSet) || !mayBeLoggedIn(subject.env, conditions)
  return isCertain
    ? faultResult(problem, '', fix)
    : warningResult(`${problem}; maybe your keychain has one`, '', fix)
}
