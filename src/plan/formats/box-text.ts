// What the text of a box says: its title, its number, and whether any gate could pass it.
import { withoutEmphasis } from '../story-words.ts'

/** In characters: a longer title is cut after its first sentence, or at this length. */
const MAX_TITLE = 120

// A bold lead, and a separator before the rest: `**Copy button.** It copies`, `**Copy button** - it copies`. Bold words in the middle
// of a sentence are not a lead.
const lead = /^\*\*([^*]{2,120}?)([.:]?)\*\*[ \t]*([-:\u2013\u2014(]?)[ \t]*(.*)$/s
const number = /^\d{1,3}(?:\.\d{1,3}){0,2}[.):]?[ \t]+(?=\S)/
const sentence = /^.{10,}?[.!?](?=[ \t]+[\p{Lu}`"(])/su

/** The title of a box: its bold lead, or all of its text; of a long text the first sentence, or its beginning. */
export function boxTitle(text: string): string {
  const [, words = '', end, separator, rest = ''] = lead.exec(text) ?? []
  if (words !== '' && (rest === '' || end !== '' || separator !== '')) return words.trim().replace(number, '')
  const whole = withoutEmphasis(text)
  if (whole.length <= MAX_TITLE) return whole
  const first = sentence.exec(whole)?.[0].replace(/\.$/, '')
  if (first !== undefined && first.length <= MAX_TITLE) return first
  return `${whole.slice(0, MAX_TITLE).replace(/\s+\S*$/, '')} ...`
}

const task =
  /^\*{0,2}task[ \t]+(?:group[ \t]+)?#?(\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?)(?![\w.]*\w)\*{0,2}[ \t]*[:.)\u2013\u2014-]*\*{0,2}[ \t]*(.*)$/is

/** The number and the rest of `Task 1.2: Name`; null for any other text. */
export function parseTask(text: string): { number: string; rest: string } | null {
  const [, found, rest = ''] = task.exec(text.slice(0, MAX_LENGTH)) ?? []
  return found === undefined ? null : { number: plainNumber(found), rest: rest.replace(/\*\*$/, '').trim() }
}

/** `1.0` is the number 1. */
export function plainNumber(found: string): string {
  return found.replace(/\.0$/, '')
}

const MAX_LENGTH = 2_000

/** The numbers of tasks in words such as `Tasks 1-3, Task Group 5, 2.1`. */
export function taskNumbers(words: string): string[] {
  const found = new Set<string>()
  const listed = words.slice(0, MAX_LENGTH).replace(/\btask(?: group)?s?\b/gi, '')
  for (const [, from = '', to] of listed.matchAll(
    /(?<![\w.])#?(\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?)(?:[ \t]*(?:-|\u2013|\u2014|\.\.|to|through)[ \t]*(\d{1,3}))?(?![\w.]*\w)/g,
  )) {
    found.add(plainNumber(from))
    // A range of whole numbers, not of `1.1-1.3`.
    for (let next = Number(from) + 1; to !== undefined && next <= Number(to); next += 1)
      found.add(String(next))
  }
  return [...found]
}

/** The text without `Step 2:`, which may be part of its bold lead. */
function withoutStep(text: string): string {
  const [found = ''] =
    /^\*{0,2}step[ \t]+\d{1,3}[a-z]?[ \t]*[:.)\u2013\u2014-]*(?:\*\*)?[ \t]*/i.exec(text) ?? []
  const isOpen = found.startsWith('**') && !found.trimEnd().endsWith('**')
  return (isOpen ? '**' : '') + text.slice(found.length)
}

/** The words of a step, without emphasis and `Step 2:`. */
export function stepWords(text: string): string {
  return withoutEmphasis(withoutStep(text)).replace(/^\d{1,3}(?:\.\d{1,3}){1,2}[.)]?[ \t]+/, '')
}

const TESTS = '(?:it|them|(?:all )?(?:of )?(?:the )?(?:\\w+ ){0,3}?(?:tests?|suite|specs?|checks?|gates?))'
const LOOK = '(?:verify|confirm|see|ensure|check|watch|make sure|be sure)'
const process: readonly RegExp[] = [
  // Run it, and see what it says.
  new RegExp(`^(?:re-?)?run ${TESTS}(?: again)?$`, 'i'),
  new RegExp(`^(?:re-?)?run\\b.{0,120}\\b(?:and|to|-|:)\\s*${LOOK}\\b`, 'i'),
  new RegExp(
    `^${LOOK} (?:that )?(?:(?:it|they) |(?:all |the )*(?:\\w+ ){0,3}?tests? )(?:still )?(?:pass(?:es)?|fails?|(?:is|are|stays?) (?:green|red))\\b`,
    'i',
  ),
  /^(?:ensure|make sure|check) (?:that )?(?:all |the |\w+ ){0,4}(?:tests?|checks?) pass\b/i,
  /^write (?:a |the )?failing (?:\w+ )?tests?$/i,
  // Git belongs to Ralph.
  /^(?:git )?(?:commit|push)(?: and push)?(?: (?:it|them|all|everything|(?:the |your |all )*(?:changes?|work|code|files?)))?(?: to \S+)?$/i,
  /^(?:git )?commit(?:[:(]| with (?:the )?message\b)/i,
  /^(?:open|create|submit) (?:a |the )?(?:pull request|pr|merge request)$/i,
  // A person has to answer or to look.
  /^(?:ask|wait) (?:for|the user|the human|a person)\b/i,
  /^(?:request|get) (?:a |an )?(?:code )?(?:review|approval|feedback|sign-?off)\b/i,
  /^(?:manual(?:ly)? )(?:test|check|verif|look)/i,
  /^(?:reload|refresh) (?:the )?(?:\w+ ){0,3}(?:page|browser|app)\b/i,
  /^(?:verify|check|test|look) (?:it )?(?:in|at) (?:a |the )?browser\b/i,
  /^(?:final |code |self-?)?(?:verification|review|check ?point|sign-?off)$/i,
]

/** Whether no gate can pass this: a step of working, such as `Commit`, or something that a person has to do. */
export function isProcessStep(text: string): boolean {
  const words = stepWords(boxTitle(withoutStep(text.slice(0, 300)))).replace(/[.!\s]+$/, '')
  return process.some((one) => one.test(words))
}

/** Whether a task only says that work is looked at here: `Checkpoint`, `Final checkpoint - all tests pass`. */
export function isCheckpoint(text: string): boolean {
  return /^(?:final |phase \w+ )?check ?point(?: [A-Z0-9]{1,3})?[ \t]*(?:$|[-:.,(\u2013\u2014])/i.test(
    withoutEmphasis(text),
  )
}
