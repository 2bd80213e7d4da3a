// Headings above boxes that are not work: criteria of the whole feature, questions, sign-offs. The whole heading has to match: boxes
// below "Notes feature" or "Sign-off flow" are work.

/** `words`: parts of a regular expression. `mayContinue`: other words may follow, as in "Deferred to the next release". */
type Section = { what: string; words: readonly string[]; mayContinue?: boolean }

const sections: readonly Section[] = [
  {
    what: 'criteria of the whole',
    words: [
      '(?:acceptance|success|exit|completion|release|launch)(?: criteri(?:a|on))?',
      'criteria',
      'definition of (?:done|ready)',
      'dod',
      'done when',
    ],
  },
  {
    what: 'what someone signs or looks at',
    words: ['sign-?offs?', 'approvals?', 'reviewers?', 'check-?lists?', 'check lists?', 'pre-?requisites?'],
  },
  {
    what: 'checks of the whole',
    words: [
      ...['verification', 'validation', 'go/no-go', '(?:evidence )?gates?', 'readiness'],
      ...['test (?:plan|cases)', 'manual (?:tests?|testing|verification)', 'automated verification'],
      'final (?:steps?|checks?|verification)',
    ],
  },
  {
    what: 'what is known or asked of the product',
    words: [
      ...['questions', 'risks?', 'assumptions?', 'metrics', 'kpis?', '(?:non-)?goals?', 'objectives?'],
      ...['in scope', 'scope', 'constraints?', 'dependencies', '(?:(?:non-?)?functional )?requirements'],
      ...['personas?', 'stakeholders?', 'references?', 'compliance', 'platforms?', 'browsers?'],
    ],
  },
  {
    what: 'where work is looked at',
    words: [
      'check ?points?(?: (?:[a-z]|\\d{1,2}))?',
      'self-?review',
      '(?:US ?\\d+|user story \\d+|phase \\d+|foundation(?:al)?|validation|quality) check ?points?',
    ],
  },
  {
    what: 'words about the list itself',
    words: ['(?:status |mark |symbol )?legend', 'format', 'notes', 'parking lot', 'icebox'],
  },
  {
    what: 'words about the list itself',
    words: ['how to (?:use|read|run|work|update|mark|fill)'],
    mayContinue: true,
  },
  {
    what: 'what is not done now',
    words: ['open questions', 'out of scope', "won'?t", 'deferred', 'cancell?ed', 'rejected'],
    mayContinue: true,
  },
  { what: 'German', words: ['freigaben?', 'abnahme(?:kriterien)?', 'risiken'] },
]

const BEFORE =
  '(?:the )?(?:(?:overall|final|mvp|general|product|project|release|launch|feature|quality|testing|technical|business|user|task|story) ){0,3}'
/** Words that may follow without changing the meaning. */
const AFTER = [
  ...['criteria', 'metrics', 'check-?lists?', 'steps?', 'gates?', 'items?', 'conditions?', 'status'],
  ...['questions?', 'requirements?', 'results?', 'verification', 'matrix', 'section', 'list', 'document'],
].join('|')
/** A second part, as in "Approval & Sign-off" and "Risks and mitigations". */
const AND = "(?: (?:and|&|/) [\\p{L}'-]+){0,2}"

const wordsOf = (mayContinue: boolean) =>
  sections.flatMap((one) => ((one.mayContinue ?? false) === mayContinue ? one.words : [])).join('|')
const end = '[ ]?(?:$|[:(\\[*,.\u2013\u2014]| - )'
const whole = new RegExp(`^${BEFORE}(?:${wordsOf(false)})(?: (?:${AFTER})){0,2}${AND}${end}`, 'iu')
const opening = new RegExp(`^${BEFORE}(?:${wordsOf(true)})(?!\\p{L})`, 'iu')
const checklist = /\bcheck-?list$/i

/** Whether boxes below such a heading are not work. */
export function isNonWorkHeading(heading: string): boolean {
  const text = heading.slice(0, 300).replaceAll('*', '').replace(/\s+/g, ' ').trim()
  // A number or an emoji may precede the words.
  const bare = text.replace(/^[^\p{L}]+/u, '')
  return whole.test(bare) || opening.test(bare) || checklist.test(bare)
}
