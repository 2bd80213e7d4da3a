// A command of the trusted configuration: the message comes on its standard input, and what it is about in variables.

import { oneLine } from '../model/text.ts'
import type { Answer } from '../system/http-post.ts'
import { type Exit, runUntrusted } from '../system/process.ts'
import { type Environment, gateEnv } from '../system/untrusted-env.ts'
import { linkOf, type Notice, plainMessage } from './notice.ts'

export type CommandPlace = {
  env: Environment
  /** Where it starts, and whether what lies in the work tree may be named there. */
  cwd: string
  isModelKey(name: string): boolean
}

/** Runs it as our own user, without a token in its sight. Never throws. */
export async function runCommand(
  command: string,
  notice: Notice,
  { env, cwd, isModelKey }: CommandPlace,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  const { GITHUB_WORKSPACE: _workspace, ...allowed } = gateEnv(env, { extra: [], isModelKey }).env
  const { exit, output } = await runUntrusted({
    file: 'bash',
    // The message is `$1`, too: scripts of the Ralph with plan and build take it there.
    args: ['-c', command, 'ralph', plainMessage(notice)],
    cwd,
    env: { ...allowed, ...variablesOf(notice) },
    stdin: `${plainMessage(notice)}\n`,
    timeoutMs,
    signal,
    captureBytes: 2000,
  })
  if (exit.kind === 'exit' && exit.code === 0) return { ok: true, said: 'exit 0' }
  const last = output.trim().split('\n').at(-1) ?? ''
  return { ok: false, said: [whyOf(exit, timeoutMs), last].filter(Boolean).join(': ') }
}

function whyOf(exit: Exit, timeoutMs: number): string {
  if (exit.kind === 'exit') return `exit ${exit.code}`
  if (exit.kind === 'timeout') return `not done after ${timeoutMs / 1000} s`
  return exit.kind === 'not-started' ? exit.reason : exit.kind
}

function variablesOf(notice: Notice): Record<string, string> {
  const { total, passed, blocked } = notice.stories
  const variables = {
    RALPH_EVENT: notice.event,
    RALPH_DELIVERY: notice.delivery,
    RALPH_REPOSITORY: notice.repository ?? '',
    RALPH_PROJECT: notice.project,
    RALPH_FEATURE: notice.feature,
    RALPH_BRANCH: notice.branch,
    RALPH_OUTCOME: notice.outcome ?? '',
    RALPH_STORIES_TOTAL: String(total),
    RALPH_STORIES_PASSED: String(passed),
    RALPH_STORIES_BLOCKED: blocked.join(' '),
    RALPH_ITERATIONS: String(notice.iterations),
    RALPH_COST_USD: notice.costUsd === null ? '' : notice.costUsd.toFixed(2),
    RALPH_URL: linkOf(notice)?.url ?? '',
  }
  // A variable holds no NUL.
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, oneLine(value, 2000)]))
}
