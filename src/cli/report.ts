// `ralph report`: a run as one HTML file (or Markdown), or all runs of the clone with totals. Changes nothing of a run.
import { jobSummary } from '../report/markdown.ts'
import { outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { type Answer, type Context, settingsOf, tell } from './context.ts'
import { openLocal } from './local.ts'
import { reportAll } from './report-all.ts'
import { localView, reportPage, show, written } from './report-page.ts'

export async function report(context: Context): Promise<Answer> {
  const { flags } = context
  if (flags.all === true && (context.feature !== null || flags.markdown === true)) {
    const found = context.feature ?? '--markdown'
    const fix = 'leave one of them out'
    throw new UserError({ path: '--all', found, expected: 'the page of all features', fix })
  }
  const { settings } = await settingsOf(context)
  using local = await openLocal(context, settings, {
    warn: (text) => tell(process.stderr, `warning: ${text}`),
  })
  if (flags.all === true) return reportAll(context, local)
  const state = await local.look()
  const { view, outcome } = await localView(context, local, state)
  if (flags.markdown === true) {
    const text = jobSummary(view)
    const path = typeof flags.output === 'string' ? await written(context, local, '', text) : null
    if (path === null) tell(context.json ? process.stderr : process.stdout, text)
    return { code: 0, outputs: outputsOf(state, outcome, path) }
  }
  const path = await written(context, local, `${state.feature}.html`, await reportPage(local, view))
  show(context, path)
  return { code: 0, outputs: outputsOf(state, outcome, path) }
}
