// What shows each criterion, as the final verification found it, story by story.
import { oneLine } from '../model/text.ts'
import { firstPart, folded, link, stacked } from './blocks.ts'
import { code, markdownText } from './escape.ts'
import { storyId } from './parts.ts'
import type { StoryView, View } from './view.ts'
import { many } from './words.ts'

/** Folded; empty where no story has any. At most about `room` characters. */
export function evidenceBlock({ stories, branch, links }: View, room: number): string {
  const proven = stories.filter(({ evidence }) => evidence.length > 0)
  const criteria = proven.reduce((sum, story) => sum + story.criteria.length, 0)
  const blob = `${links.repository}/blob/${pathOf(branch)}`
  const lists = stacked(proven.map((story) => evidenceOf(story, blob))).trim()
  return folded(`What shows ${many(criteria, 'criterion', 'criteria')}`, firstPart(lists, room))
}

function evidenceOf({ id, title, criteria, evidence }: StoryView, blob: string): string {
  const items = criteria.flatMap((text, at) => {
    const shown = evidence.filter(({ criterion }) => criterion === at + 1).slice(0, 5)
    const places = shown.map((one) => {
      if (one.path === undefined) return markdownText(one.shown, 160)
      const line = one.line === undefined ? '' : `#L${one.line}`
      const name = code(`${one.path}${line.replace('#L', ':')}`, 120)
      return link(name, `${blob}/${pathOf(one.path)}${line}`)
    })
    return places.length === 0 ? [] : [`- ${markdownText(text, 160)} → ${places.join(', ')}`]
  })
  return `${storyId(id)} ${markdownText(title, 120)}\n${items.join('\n')}`
}

/** A name as a part of an address. */
export function pathOf(name: string): string {
  return oneLine(name, 2000).split('/').map(encodeURIComponent).join('/')
}
