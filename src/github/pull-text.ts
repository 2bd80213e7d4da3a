// Ralph's own part of a pull request's title and text. It bears a seal, by which it is known to be as Ralph wrote it: so
// nothing that people wrote is ever rewritten, also after a job that died or a state that was lost.
import { createHash } from 'node:crypto'
import { MOST_CHARACTERS } from '../report/markdown.ts'
import { marker } from '../report/parts.ts'

/** What stands on GitHub. */
export type Worded = { title: string; body: string }

/** What Ralph has to say: the text in at most `room` characters, beginning with the marker of the feature. */
export type Own = { feature: string; title: string; text(room: number): string }

/** Fewer characters than this say too little to be worth a part. */
const LEAST = 3000
/** The seal and the lines between, characters. */
const FRAME = 150

/** Title and text of a pull request that Ralph opens. */
export function whole({ feature, title, text }: Own): Worded {
  return { title, body: sealed(feature, title, text(MOST_CHARACTERS - FRAME)) }
}

/**
 * What is to be written to a pull request that may be people's: the title only where it is still Ralph's own, and of the
 * text Ralph's part alone; that is put at the end where there is none, or where people wrote into it. `full` when there is
 * no room for it.
 */
export function updated(now: Worded, own: Own): Partial<Worded> | 'full' {
  const part = ownPart(now.body, own.feature)
  const isOurs = part !== null && part.title === digest(now.title)
  const before = part === null ? now.body : now.body.slice(0, part.from)
  const after = part === null ? '' : now.body.slice(part.to)
  const gap = part === null && before !== '' ? '\n\n' : ''
  const room = MOST_CHARACTERS - before.length - after.length - FRAME
  if (room < LEAST) return 'full'
  const body = `${before}${gap}${sealed(own.feature, isOurs ? own.title : null, own.text(room))}${after}`
  return {
    ...(isOurs && own.title !== now.title ? { title: own.title } : {}),
    ...(body === now.body ? {} : { body }),
  }
}

function sealed(feature: string, title: string | null, text: string): string {
  return `${text}${seal(feature, title === null ? PEOPLE : digest(title), digest(text))}`
}

/** In the place of the title's digest where the title is people's. */
const PEOPLE = 'people'

function seal(feature: string, title: string, text: string): string {
  return `${marker('pull', feature).replace('<!-- ', '<!-- /').replace(' -->', '')} title=${title} text=${text} -->`
}

/** Where Ralph's part stands as Ralph wrote it, the last one, and the digest of the title that came with it. */
function ownPart(body: string, feature: string): { from: number; to: number; title: string } | null {
  let found: { from: number; to: number; title: string } | null = null
  let searched = 0
  for (const end of body.matchAll(/<!-- \/ralph:pull:\S+ title=(\w+) text=(\w+) -->/g)) {
    const [all, title = '', text = ''] = end
    const begin = body.slice(searched, end.index).lastIndexOf(marker('pull', feature))
    const from = searched + begin
    searched = end.index + all.length
    if (begin === -1 || all !== seal(feature, title, text)) continue
    if (digest(body.slice(from, end.index)) === text) found = { from, to: searched, title }
  }
  return found
}

/** The same for what GitHub's editor makes of a text that nobody changed, and for a box of the list that was clicked. */
function digest(text: string): string {
  const plain = text
    .replace(/\r\n?/g, '\n')
    .replace(/^- \[[x ]\]/gm, '- [ ]')
    .trim()
  return createHash('sha256').update(plain).digest('hex').slice(0, 16)
}
