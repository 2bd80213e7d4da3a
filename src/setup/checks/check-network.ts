// Whether the agent of the workflow reaches its model with the workflow's own settings of isolation and network.
import { findAgent } from '../../agents/registry.ts'
import { chosenAgents } from '../../app/agents.ts'
import { unreachableModel } from '../../app/reach-model.ts'
import { type CheckResult, okResult, requireCheckout, type Subject, toFaults } from './subject.ts'

export function checkNetwork(subject: Subject): CheckResult[] {
  const { ci } = requireCheckout(subject)
  if (ci === null) return []
  const { settings, job, file } = ci
  if (settings.isolation !== 'other-user' || settings.network !== 'model') return []
  // What an expression sets cannot be known here.
  if (['network', 'network-allow', 'isolation'].some((name) => job.unread.includes(name))) return []
  const mistakes = chosenAgents(settings).flatMap(({ name }) => {
    const vendor = findAgent(name)
    const mistake =
      vendor === null ? null : unreachableModel(settings, vendor, (variable) => job.env.includes(variable))
    return mistake === null ? [] : [{ ...mistake, path: `${file.path}: job ${job.id}` }]
  })
  if (mistakes.length > 0) return toFaults(mistakes)
  return [okResult(`closed; ${settings.agent} reaches its model`)]
}
