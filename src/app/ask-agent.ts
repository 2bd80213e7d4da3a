// Asks an agent for one word, to see that its model can be reached. The session is set up as in a run, but in an empty folder.
import { join } from 'node:path'
import type { AgentVendor, SessionResult } from '../agents/agent.ts'
import { costByPrices } from '../agents/cost.ts'
import { runAgent } from '../agents/run-session.ts'
import { agentEnv, type Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { agentEnvOptions, openAgentHomes, withInstalledAgent } from './agents.ts'
import type { Isolation } from './isolation.ts'
import { keylessWay, openKeyless } from './keyless.ts'
import { isSetIn } from './reach-model.ts'
import { relayModel } from './relay.ts'
import type { Workspace } from './workspace.ts'

export const EXPECTED_ANSWER = 'READY'
const PROMPT = `This only checks that you can be reached. Answer with the one word ${EXPECTED_ANSWER}. Use no tool, and change nothing.\n`
/** An agent that needs longer for one word could not work on a story either. */
const ANSWER_MS = 2 * 60_000

type Question = {
  settings: Settings
  env: Environment
  workspace: Workspace
  isolation: Isolation | null
  /** Marks the processes of the session, so that those that outlive it can be found. */
  mark: string
  signal: AbortSignal
}

/** How the session ended, and its cost in USD: null if neither the agent reports it nor the prices of the settings give it. */
export async function askAgent(
  vendor: AgentVendor,
  { settings, env, workspace, isolation, mark, signal }: Question,
): Promise<SessionResult & { answered: string; costUsd: number | null }> {
  const { clone, redactor } = workspace
  const as = isolation?.agent ?? null
  const homes = await openAgentHomes(vendor, { env, workspace }, as)
  const options = { env, signal, homes, directory: join(clone.gitDir, 'ralph'), report: () => {} }
  const installed = await withInstalledAgent(vendor, settings.agentVersion, options)
  const reach = isolation?.reach
  const way = keylessWay(vendor, settings, isSetIn(env))
  const relayed =
    way !== null && reach !== undefined
      ? await openKeyless(vendor, way, { settings, env: installed, reach, warn: () => {} })
      : reach === undefined
        ? null
        : await relayModel(vendor, installed, reach, () => {})
  try {
    await using home = await homes.open()
    using _admission = relayed?.admit()
    const envOptions = { ...agentEnvOptions(vendor, settings), set: { RALPH_MODE: 'doctor' } }
    const agentEnvironment = agentEnv(home.env(relayed?.env ?? installed), envOptions).env
    const model = settings.model.run ?? undefined
    const result = await runAgent({
      vendor,
      redactor,
      mark,
      signal,
      model,
      env: agentEnvironment,
      as: home.as,
      // The home's own folder for temporary files: it is empty, and removed with the home.
      cwd: agentEnvironment.TMPDIR ?? '/',
      commandLine: settings.agentCommand ?? undefined,
      wrapper: settings.agentWrapper ?? undefined,
      extraArgs: [...(relayed?.args ?? []), ...settings.agentArgs],
      prompt: PROMPT,
      timeoutMs: ANSWER_MS,
      captureBytes: 4096,
    })
    const costUsd = result.usage.costUsd ?? costByPrices(result.usage, settings.prices, model ?? null)
    return { ...result, answered: redactor.redact(result.finalText), costUsd }
  } finally {
    await relayed?.proxy[Symbol.asyncDispose]()
  }
}
