// `ralph doctor`: everything that a run needs, looked at without beginning one. Exit 0 when fine, 1 when something is not.

import { chooseFeature, findFeatures } from '../app/features.ts'
import { openIsolation } from '../app/isolation.ts'
import { redactorFor } from '../app/redactor.ts'
import { openWorkspace } from '../app/workspace.ts'
import { diagnose } from '../doctor/diagnose.ts'
import { type Checkout, onceOpened, type Subject } from '../doctor/subject.ts'
import { mapTexts } from '../model/text.ts'
import { isHealthy } from '../report/findings.ts'
import { outputsOf } from '../report/outputs.ts'
import type { Settings } from '../settings/index.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { secretsIn } from '../system/untrusted-env.ts'
import { findingLines } from '../terminal/findings.ts'
import { type Answer, type Context, settingsRead, tell } from './context.ts'
import { baseOf } from './local.ts'

export async function doctor(context: Context): Promise<Answer> {
  // Commander makes one option of `--gates` and `--no-gates`.
  const { gates: given, ...others } = context.flags
  const flags = given === false ? others : context.flags
  const read = await settingsRead({ ...context, flags })
  const mistakes = read.ok ? [] : read.mistakes
  // What was typed wrong is bad input; what a file says wrong is a finding.
  const typed = mistakes.filter(({ path }) => path.startsWith('--'))
  if (typed.length > 0) throw new UserError(typed)
  const { settings, notes } = read
  const checkout = await opened(context, settings)
  try {
    if ('workspace' in checkout) await refuseUnknown(checkout, settings)
    const { env, directory } = context
    const isolation = onceOpened(async () =>
      'workspace' in checkout
        ? openIsolation({ settings, env, clone: checkout.workspace.clone, say: () => {} })
        : null,
    )
    const subject: Subject = {
      env,
      directory,
      settings,
      mistakes,
      notes,
      feature: settings.feature,
      checkout,
      github: null,
      withGates: given !== false,
      isolation: isolation.open,
    }
    const { redact } = redactorFor(secretsIn(env))
    const findings = (await diagnose(subject).finally(isolation.close)).map((one) => mapTexts(one, redact))
    const stream = context.json ? process.stderr : process.stdout
    const look = {
      width: Math.min(100, stream.columns ?? 80),
      colour: stream.isTTY === true && env.NO_COLOR === undefined,
      plain: stream.isTTY !== true,
    }
    for (const line of findingLines(findings, look)) tell(stream, line)
    const outputs = { ...outputsOf(null, null, null), feature: settings.feature }
    return { code: isHealthy(findings) ? 0 : 1, outputs, more: { findings } }
  } finally {
    if ('workspace' in checkout) checkout.workspace[Symbol.dispose]()
  }
}

async function opened(context: Context, settings: Settings): Promise<Checkout | readonly Mistake[]> {
  const { env, directory } = context
  const warn = (text: string) => tell(process.stderr, `warning: ${text}`)
  try {
    const workspace = await openWorkspace({ settings, env, directory, remote: null, identity: null, warn })
    const { branch, head } = workspace.clone
    const base = await baseOf(workspace, settings, branch ?? 'a detached HEAD', head ?? '')
    return { workspace, base, defaultBranch: null }
  } catch (error) {
    if (!(error instanceof UserError) || context.flags.baseBranch !== undefined) throw error
    return error.mistakes
  }
}

/** A feature that nobody has is bad input, as for every other command. */
async function refuseUnknown({ workspace, base }: Checkout, settings: Settings): Promise<void> {
  const { clone, objects, store } = workspace
  if (settings.feature === null) return
  const place = { commit: clone.head ?? base.sha, workTree: clone.workTree }
  const { features } = await findFeatures(objects, place, settings.branchPrefix)
  const names = [...features.map(({ name }) => name)]
  for (const folder of (await store.list()).keys()) names.push(folder.replace(/^\d{4}-\d\d-\d\d-/, ''))
  chooseFeature(settings.feature, new Map(names.map((name) => [name, 'unfinished'])))
}
