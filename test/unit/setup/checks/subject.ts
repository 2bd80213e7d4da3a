// An installation as data: what the checks look at that need no repository.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSettings } from '../../../../src/settings/read-settings.ts'
import type { Checkout, Subject } from '../../../../src/setup/checks/subject.ts'
import type { Ci } from '../../../../src/setup/checks/workflow-file.ts'
import { readWorkflow } from '../../../../src/setup/checks/workflow-file.ts'
import { ROOT } from '../../../e2e/site.ts'

export const ACTION = 'ralph/action'
const SHA = '0123456789abcdef0123456789abcdef01234567'

/** A starter workflow, as somebody has it who has put the version in. */
export async function starter(name = 'ralph.yml'): Promise<string> {
  const text = await readFile(join(ROOT, 'examples', name), 'utf8')
  return text.replaceAll('ralph/action@<sha>', `ralph/action@${SHA}`)
}

export function ciOf(text: string, inputs: Record<string, string> = {}): Ci {
  const file = readWorkflow('.github/workflows/ralph.yml', text, ACTION)
  const job = file?.jobs.find(({ role }) => role === 'run' || role === 'claim')
  if (file == null || job === undefined) throw new Error('no job of Ralph in it')
  const read = readSettings({ inputs: { ...job.inputs, ...inputs }, env: {}, surface: 'action' })
  return {
    file,
    files: [file],
    job,
    settings: read.settings,
    unlocked: [],
    mistakes: read.ok ? [] : read.mistakes,
  }
}

export function subjectOf(more: Partial<Subject> = {}, ci: Ci | null = null): Subject {
  const defaultBranch = { name: 'main', sha: SHA }
  const base = { branch: 'main', sha: SHA }
  // Of the workspace nothing is asked by the checks that are tried with it.
  const checkout = { workspace: {}, base, defaultBranch, ci } as unknown as Checkout
  return {
    env: { PATH: process.env.PATH ?? '' },
    directory: '/',
    settings: readSettings({ env: {}, surface: 'cli' }).settings,
    mistakes: [],
    notes: [],
    features: { states: [], mistakes: [] },
    anew: false,
    feature: null,
    checkout,
    github: null,
    action: ACTION,
    withGates: true,
    asksAgent: false,
    atWork: null,
    mark: '',
    signal: new AbortController().signal,
    onBegin: () => {},
    isolation: async () => null,
    ...more,
  }
}
