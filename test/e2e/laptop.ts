// A repository on a laptop, the bundle of the CLI with a scripted agent, and a terminal to type into.
import { join } from 'node:path'
import { type Clone, type Ended, openClone, type Started } from '../fakes/clone.ts'
import { openTerminal, type Terminal } from '../fakes/terminal.ts'
import { ROOT, type Script } from './site.ts'

export const CLI = join(ROOT, 'dist', 'cli', 'main.js')

export type Place = Omit<Clone, 'start'> & {
  prompts(): Promise<string[]>
  ralph(args: readonly string[], env?: Record<string, string>): Promise<Ended>
  start(args: readonly string[], env?: Record<string, string>): Started
  terminal(args: readonly string[], more?: { editor?: string; columns?: number }): Terminal
}

/** Commands that take no flag of an agent. */
const AGENTLESS = new Set(['status', 'retry', 'stop', 'report'])

export async function place(files: Record<string, string> = {}, script: Script = {}): Promise<Place> {
  const clone = await openClone(CLI, files)
  await clone.setScript(script)
  const flags = [...clone.agent, '--isolation', 'same-user']
  const start: Place['start'] = ([command = '', ...args], env = {}) =>
    clone.start([command, ...(AGENTLESS.has(command) ? [] : flags), ...args], { env })
  return {
    ...clone,
    start,
    prompts: async () => (await clone.called()).map(({ prompt }) => prompt),
    ralph: (args, env) => start(args, env).ended,
    terminal: ([command = '', ...args], { editor = 'true', columns = 80 } = {}) =>
      openTerminal([process.execPath, CLI, command, ...flags, ...args], {
        cwd: clone.repository,
        env: { ...clone.env, EDITOR: editor },
        columns,
      }),
  }
}
