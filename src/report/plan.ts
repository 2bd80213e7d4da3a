// A plan for people to approve: each story with its criteria, what the session had to assume, and the digest that an approval names.
import { folded, list, section } from './blocks.ts'
import { bold, code, markdownText } from './escape.ts'
import { marker } from './parts.ts'
import type { PlanView, View } from './view.ts'
import { many } from './words.ts'

/** Empty where nothing waits to be approved. At most about `room` characters. */
export function planBlock({ plans }: View, room: number): string {
  const waiting = plans.filter(({ isWaiting }) => isWaiting)
  return waiting.map((plan) => onePlan(plan, room / waiting.length)).join('\n\n')
}

function onePlan(plan: PlanView, room: number): string {
  const whole = plan.storyId === null ? null : markdownText(plan.storyId, 64)
  const title = whole === null ? 'The plan' : `${whole} in ${plan.parts.length} parts`
  const read = folded('Read it', storyList(plan.parts, room), true)
  return section(title, [questions(plan), sizes(plan), read, digest(plan)].filter(Boolean).join('\n\n'))
}

type Shown = PlanView['parts'][number]

function storyList(stories: readonly Shown[], room: number): string {
  const items: string[] = []
  let left = room
  for (const { id, title, about, dependsOn, criteria } of stories) {
    const after = dependsOn.length === 0 ? [] : [`after ${dependsOn.slice(0, 10).join(', ')}`]
    const lines = [...about, ...after, ...criteria].map((one) => `  - ${markdownText(one, 400)}`)
    const item = [`${bold(markdownText(id, 64))} ${markdownText(title, 200)}`, ...lines].join('\n')
    left -= item.length
    if (left < 0) break
    items.push(item)
  }
  const more = stories.length - items.length
  return list(more > 0 ? [...items, `… and ${many(more, 'more story', 'more stories')} in prd.json`] : items)
}

function questions({ questions: asked }: PlanView): string {
  if (asked.length === 0) return ''
  return `What it could not know, and assumed:\n\n${list(asked.map((one) => markdownText(one, 300)))}`
}

/** A story that is too large costs a session or two before it is blocked: told while it is cheap to mend. */
function sizes({ remarks }: PlanView): string {
  const items = remarks
    .slice(0, 10)
    .map(({ storyId, remark }) => `${bold(markdownText(storyId, 64))} ${markdownText(remark, 300)}`)
  return items.length === 0 ? '' : `May be too large for one session:\n\n${list(items)}`
}

function digest({ digest: of }: PlanView): string {
  return `<sub>An approval is for these words (${code(of)}): after an edit it is asked for again.</sub>`
}

/** The one reply on the issue that asked for a plan: where it stands, or what is missing. */
export function issueReply(view: View): string {
  const plan = view.plans.find(({ storyId }) => storyId === null)
  const { pullUrl } = view
  const where = pullUrl === null ? code(view.branch, 200) : pullUrl
  const again = `Edit the issue, then comment ${code('/ralph plan')} here.`
  const missing = plan === undefined || plan.message === '' ? '' : markdownText(plan.message, 400)
  const text =
    plan?.phase === 'wanted' && missing !== ''
      ? `❓ No plan came of this issue: ${missing}\n\n${again}`
      : plan?.isWaiting
        ? `📋 ${many(view.stories.length, 'story', 'stories')} are proposed in ${where}. Read them there; comment ${code('/ralph approve-plan')} there to begin.`
        : `🔁 ${many(view.stories.length, 'story', 'stories')} of this issue are worked on in ${where}.`
  return `${marker('issue', view.feature)}\n${text}\n`
}
