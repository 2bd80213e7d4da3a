// Whether a story's words ask for something that people see in a browser: the words, for the tag `ui`. Pure.
import type { Story } from '../model/feature.ts'
import { oneLine } from '../model/text.ts'

/** The tag of stories with a user interface, in the settings of Ralph and in `when` of gates. */
export const UI_TAG = 'ui'

/** Words that negate the thing named after them. */
const NEGATION =
  /\b(?:no|not|without|never|cannot|nothing|neither|nor|except|instead of|rather than|(?:do|does|did|is|are|has|have|will|need)n['’]t|out of scope:?)\b[^.;:!?\n]{0,40}$/i

/** An address that programs request, not people. */
const LOCAL =
  /(?<![\w/.@-])(?:https?:\/\/)?(?:localhost|127\.0\.0\.1)(?::\d{2,5})(?!\d)(?!\/(?:api|v\d|graphql|rpc|health\w*|metrics|ready|status)\b)(?:\/[\w./-]{0,60})?/i
const PROGRAM_REQUEST =
  /\b(?:curl|wget|fetch(?:es)?|GET|POST|PUT|PATCH|DELETE|proxy|proxies|broker|database|cache|queue|server listens|listens|binds?|connects?(?: to)?|endpoint|webhook)\b[^.;\n]{0,40}$/i

const PLACES =
  'log-?in|sign-?in|sign-?up|landing|home|settings|profile|checkout|product|cart|search|details?|admin|account|dashboard'
const THINGS =
  'button|link|icon|tab|menu|row|card|tile|logo|image|avatar|checkbox|toggle|switch|heading|header|title|item'

/** Things that only a page has. Words with another meaning (form, page, table, browser, click) count only together with others. */
const WORDS: readonly RegExp[] = [
  /\b(?:verif(?:y|ied|ies)|check(?:ed|s)?|test(?:ed|s)?|confirm(?:ed|s)?|visible|look(?:ed|s)? at|shown|renders?|displays?|works?|opens?) [^.;\n]{0,40}\b(?:in|with|using|via) (?:the |a |an? |your |real )*(?:web |headless )?browser\b/i,
  /\bdev-browser\b/i,
  /\b(?:in|on|from|through|via) the (?:web )?UI\b/,
  /\bUI (?:shows?|displays?|updates?|renders?|lists?|component|element|state)\b/,
  /\b(?:web|graphical) user interface\b|\bweb (?:UI|page)s?\b/i,
  /\b(?:dark|light) mode\b/i,
  /\b(?:modal|confirmation|pop-?up) (?:dialog|window)s?\b|\b(?:opens?|closes?|shows?|dismiss(?:es)?) (?:a|the|an?) (?:\w+ )?modal\b/i,
  /\bdrop-?downs?\b|\btool-?tips?\b|\bnav-?bars?\b|\bnavigation bars?\b|\bside-?bars?\b|\bradio buttons?\b|\bdate ?pickers?\b/i,
  /\b(?:toast|snackbar) (?:message|notification|appears|is shown)\b|\b(?:shows?|displays?) (?:a|the) (?:\w+ )?(?:toast|spinner|banner|badge)\b/i,
  new RegExp(
    `\\b(?:on|opens?|visits?|loads?|shows?|renders?|to) (?:the|a|an|their|your) (?:${PLACES}) ?page\\b`,
    'i',
  ),
  /\b(?:homepage|landing page)\b/i,
  new RegExp(
    `\\b(?:click|tap|hover)(?:s|ing|ed|ping|ped)? (?:on |over )?(?:the |a |an |any |its )?(?:["“'][^"”'\\n]{1,40}["”'] ?|[\\w-]+ ){0,3}(?:${THINGS})s?\\b`,
    'i',
  ),
  /\b(?:add|adds|show|shows|has|have|with|see|sees|press|presses|display|displays|disable|disables|hide|hides|the|a|an) (?:the |a |an )?(?:["“'][^"”'\n]{1,40}["”'] |[\w-]+ ){0,2}button(?:s)?\b(?! (?:press(?:es)? )?(?:on|of) (?:the )?(?:device|board|controller|remote))/i,
  /\bscreen readers?\b|\bcolou?r contrast\b|\bkeyboard focus\b|\bresponsive (?:layout|design)\b/i,
]

/** Words for hardware and chat programs, which have their own buttons and menus. */
const OTHER_INTERFACE =
  /\b(?:gpio|hardware|device|firmware|keypad|slack|discord|telegram|terminal|tui|ncurses|curses|tkinter|cli)\b/i

/** The words by which a story asks for a page in a browser; null if none do. */
export function findInterfaceWords({
  title,
  description,
  acceptanceCriteria,
}: Pick<Story, 'title' | 'description' | 'acceptanceCriteria'>): string | null {
  for (const text of [title, description, ...acceptanceCriteria]) {
    const found = wordsIn(text)
    if (found !== null) return found
  }
  return null
}

/** The part of a text that is searched, in UTF-16 units. */
const MAX_SEARCHED = 10_000
const MAX_LENGTH = 60

function wordsIn(text: string): string | null {
  const sentences = text.slice(0, MAX_SEARCHED).split(/\n|(?<=[.;!?])\s/)
  for (const sentence of sentences) {
    // What is in backticks is code, which may speak of pages; an address may be so as well.
    const local = LOCAL.exec(sentence)
    if (
      local !== null &&
      !PROGRAM_REQUEST.test(sentence.slice(0, local.index)) &&
      !isNegated(sentence, local.index)
    )
      return quoted(local[0])
    const words = sentence.replace(/`[^`]*`/g, '')
    if (OTHER_INTERFACE.test(words)) continue
    for (const one of WORDS) {
      const match = one.exec(words)
      if (match !== null && !isNegated(words, match.index)) return quoted(match[0])
    }
  }
  return null
}

function isNegated(sentence: string, at: number): boolean {
  return NEGATION.test(sentence.slice(0, at))
}

function quoted(words: string): string {
  return oneLine(words, MAX_LENGTH)
}
