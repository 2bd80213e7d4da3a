// What prompt templates can name: one table, from which the prompts are filled, templates are checked and docs/prompts.md is held.

export const MODES = ['run', 'plan', 'verify', 'setup'] as const
/** The kinds of session, each with a template of its own. */
export type Mode = (typeof MODES)[number]

type Variable = {
  /** Markdown of ours, for docs/prompts.md. */
  meaning: string
  /** Left out where every mode has it. */
  modes?: readonly Mode[]
  /** What other tools call it. */
  also?: readonly string[]
  /** UTF-8 bytes that it may take. Of all that is not the story's own text or context.md, together under 8 KB. */
  bytes?: number
}

const SESSION = ['run', 'setup'] as const
const STORY = ['run'] as const
const NAMED = ['run', 'plan'] as const

export const VARIABLES = {
  storyId: { meaning: "the story's id; of a plan, the story to be split", modes: NAMED, also: ['taskId'] },
  storyTitle: { meaning: 'its title, on one line', modes: STORY, also: ['taskTitle'] },
  storyDescription: { meaning: 'its description', modes: STORY, also: ['taskDescription'] },
  acceptanceCriteria: { meaning: 'its criteria, one `- ` line each', modes: STORY },
  attempt: { meaning: 'which attempt on the story this is, from 1', modes: STORY },
  epic: { meaning: "the epic's id, or nothing", modes: STORY, also: ['epicId', 'epicName', 'epicTitle'] },
  priority: { meaning: 'its priority; the lowest comes first', modes: STORY },
  tags: { meaning: 'its tags, separated by commas', modes: STORY, also: ['labels'] },
  dependsOn: { meaning: 'ids that it depends on, separated by commas', modes: STORY },
  blocks: { meaning: 'ids that depend on it, separated by commas', modes: STORY },
  notes: { meaning: 'what people noted on the story', modes: STORY, bytes: 300 },
  guidance: { meaning: 'what maintainers said with `retry`, `redo` and `note`', modes: STORY, bytes: 500 },
  kept: { meaning: "whether an earlier attempt's work is in the work tree", modes: STORY },
  failure: {
    meaning: 'the output for which the last attempt was rejected',
    modes: STORY,
    also: ['verificationErrors'],
    bytes: 1500,
  },
  failureSummary: {
    meaning: 'why the last attempt was rejected, or the last answer could not be used, on one line',
    modes: ['run', 'plan', 'verify'],
    bytes: 300,
  },
  doneMarker: { meaning: 'the line that says a session is done: a hint, never a verdict', modes: SESSION },
  learnings: {
    meaning: 'what earlier sessions learned, the newest',
    modes: SESSION,
    also: ['codebasePatterns'],
    bytes: 1200,
  },
  progress: {
    meaning: 'the last three iterations',
    modes: SESSION,
    also: ['recentProgress', 'progressContext'],
    bytes: 500,
  },
  stories: {
    meaning: 'the stories to be judged, or those that stand already, with their criteria',
    modes: ['plan', 'verify'],
    also: ['storySummaries', 'prdContent'],
  },
  task: { meaning: 'what is to be planned: a feature, or the parts of a story', modes: ['plan'] },
  brief: {
    meaning: 'what it is planned from: an issue, documents, a sentence; in a fence',
    modes: ['plan'],
    bytes: 60_000,
  },
  answer: { meaning: 'what the answer must end with, to be understood', modes: ['plan', 'verify'] },
  feature: { meaning: "the feature's name", also: ['planName', 'prdName'] },
  project: { meaning: "the project's name in prd.json", also: ['projectName'] },
  about: {
    meaning: "the feature's description in prd.json",
    also: ['projectOverview', 'prdDescription'],
    bytes: 300,
  },
  context: { meaning: 'context.md', also: ['architecturePatterns'], bytes: 6000 },
  instructions: { meaning: '`instructions` of the settings', also: ['customInstructions'], bytes: 1000 },
  gates: {
    meaning: 'the gates that will run, one `- name: command` line each',
    also: ['verifyCommands', 'qualityGates'],
    bytes: 700,
  },
  services: {
    meaning: 'what runs beside the gates, and when each is ready, one `- name: ready` line each',
    bytes: 200,
  },
  gateResults: { meaning: 'how each gate ended, and what it said last', modes: ['verify'], bytes: 2500 },
  screenshots: { meaning: 'pictures of pages, a name and a path each', modes: ['verify'], bytes: 2000 },
  storyList: {
    meaning: 'every story of the feature, a `- [x] id: title` line each',
    also: ['prdContent'],
    bytes: 2000,
  },
  storiesLeft: { meaning: 'how many stories are left', also: ['storiesRemaining'] },
  storiesPassed: { meaning: 'how many stories have passed', also: ['prdCompletedCount'] },
  storiesTotal: { meaning: 'how many stories there are', also: ['prdTotalCount'] },
  iteration: { meaning: 'which iteration of the feature this is, from 1', also: ['loopNumber'] },
  branch: { meaning: "the feature's branch", also: ['branchName'] },
  base: { meaning: 'the commit that the feature grew from' },
  commit: { meaning: 'the commit that the session starts on' },
  date: {
    meaning: "the day in the name of the feature's folder",
    also: ['datetime', 'timestamp', 'currentDate', 'currentTimestamp'],
  },
  prdFile: { meaning: 'the path of prd.json, which a session reads and never writes', also: ['planFile'] },
  progressFile: { meaning: 'the path of progress.txt, which a session reads and never writes' },
  contextFile: { meaning: 'the path of context.md' },
} as const satisfies Record<string, Variable>

export type VariableName = keyof typeof VARIABLES
type ModeOf<K extends VariableName> = (typeof VARIABLES)[K] extends { modes: readonly (infer M)[] } ? M : Mode
/** What a session of this mode has to say; texts that are seldom asked for are made when they are. */
export type Values<M extends Mode> = {
  readonly [K in VariableName as M extends ModeOf<K> ? K : never]: string | (() => string)
}

const TABLE: ReadonlyMap<string, Variable> = new Map(Object.entries(VARIABLES))

type Spelling = 'braces' | 'dollar'

/** How a variable is written in both spellings: `{{storyId}}`, `{{story_id}}`; `${STORY_ID}`. */
function spellings(name: string): Record<Spelling, string[]> {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return { braces: [name, snake, snake.toUpperCase()], dollar: [snake.toUpperCase()] }
}

/** By what is written; the first row of a mode has it. */
function written(mode: Mode, spelling: Spelling): Map<string, VariableName> {
  const names = new Map<string, VariableName>()
  for (const name of variableNames(mode))
    for (const alias of [name, ...(TABLE.get(name)?.also ?? [])])
      for (const one of spellings(alias)[spelling]) if (!names.has(one)) names.set(one, name)
  return names
}

const WRITTEN = Object.fromEntries(
  MODES.map((mode) => [mode, { braces: written(mode, 'braces'), dollar: written(mode, 'dollar') }]),
)

/** Those of a mode, or of all. */
export function variableNames(mode?: Mode): VariableName[] {
  const names = Object.keys(VARIABLES).filter(isVariable)
  return mode === undefined ? names : names.filter((name) => modesOf(name).includes(mode))
}

function isVariable(name: string): name is VariableName {
  return name in VARIABLES
}

/** The variable of a mode that is written so; null where there is none. */
export function variableOf(text: string, mode: Mode, spelling: Spelling): VariableName | null {
  return WRITTEN[mode]?.[spelling].get(text) ?? null
}

/** Every way to write one of a mode's variables. */
export function writtenIn(mode: Mode, spelling: Spelling): string[] {
  return [...(WRITTEN[mode]?.[spelling].keys() ?? [])]
}

function modesOf(name: VariableName): readonly Mode[] {
  return TABLE.get(name)?.modes ?? MODES
}

/** UTF-8 bytes, or null without a bound. */
export function boundOf(name: string): number | null {
  return TABLE.get(name)?.bytes ?? null
}

/** The rows of docs/prompts.md. */
export function variableRows(): string[] {
  return variableNames().map((name) => {
    const { meaning = '', also = [], bytes } = TABLE.get(name) ?? {}
    const others = also.map((alias) => `\`${alias}\``).join(', ')
    const modes = modesOf(name)
    const where = modes === MODES ? 'all' : modes.join(', ')
    const dollar = spellings(name).dollar.map((one) => `\`\${${one}}\``)
    return `| \`{{${name}}}\` ${dollar} | ${meaning} | ${where} | ${others} | ${bytes ?? ''} |`
  })
}
