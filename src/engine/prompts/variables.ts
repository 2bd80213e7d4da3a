// The variables of prompt templates (docs/prompts.md explains each): one table for filling and checking.
import { OUTPUT_BYTES } from '../model/gate-output.ts'

export const MODES = ['run', 'plan', 'verify', 'setup'] as const
/** The kinds of session, each with its own template. */
export type Mode = (typeof MODES)[number]

type Variable = {
  /** The modes that have it; left out if all have. */
  modes?: readonly Mode[]
  /** Its names in other tools. */
  also?: readonly string[]
  /** The maximum number of UTF-8 bytes that it may take; together under 8 KB without the story's own text, its guidance and context.md. */
  bytes?: number
}

const SESSION = ['run', 'setup'] as const
const STORY = ['run'] as const
const NAMED = ['run', 'plan'] as const

export const VARIABLES = {
  storyId: { modes: NAMED, also: ['taskId'] },
  storyTitle: { modes: STORY, also: ['taskTitle'] },
  storyDescription: { modes: STORY, also: ['taskDescription'] },
  acceptanceCriteria: { modes: STORY },
  attempt: { modes: STORY },
  epic: { modes: STORY, also: ['epicId'] },
  epicName: { modes: STORY, also: ['epicTitle'] },
  priority: { modes: STORY },
  tags: { modes: STORY, also: ['labels'] },
  dependsOn: { modes: STORY },
  blocks: { modes: STORY },
  notes: { modes: STORY, bytes: 300 },
  guidance: { modes: STORY, bytes: 2000 },
  kept: { modes: STORY },
  failure: { modes: STORY, also: ['verificationErrors'], bytes: OUTPUT_BYTES.prompt },
  failureSummary: { modes: ['run', 'plan', 'verify'], bytes: 300 },
  doneMarker: { modes: SESSION },
  learnings: { modes: SESSION, also: ['codebasePatterns'], bytes: 1200 },
  progress: { modes: SESSION, also: ['recentProgress', 'progressContext'], bytes: 500 },
  stories: { modes: ['plan', 'verify'], also: ['storySummaries', 'prdContent'] },
  task: { modes: ['plan'] },
  brief: { modes: ['plan'], bytes: 60_000 },
  answer: { modes: ['plan', 'verify'] },
  feature: { also: ['planName', 'prdName'] },
  project: { also: ['projectName'] },
  about: { also: ['prdDescription'], bytes: 300 },
  context: { bytes: 6000 },
  overview: { also: ['projectOverview'], bytes: 2000 },
  architecture: { also: ['architecturePatterns'], bytes: 6000 },
  instructions: { also: ['customInstructions'], bytes: 1000 },
  gates: { also: ['verifyCommands', 'qualityGates'], bytes: 700 },
  services: { bytes: 200 },
  gateResults: { modes: ['verify'], bytes: OUTPUT_BYTES.judge },
  screenshots: { modes: ['verify'], bytes: 2000 },
  storyList: { also: ['prdContent'], bytes: 2000 },
  storiesLeft: { also: ['storiesRemaining'] },
  storiesPassed: { also: ['prdCompletedCount'] },
  storiesTotal: { also: ['prdTotalCount'] },
  iteration: { also: ['loopNumber'] },
  branch: { also: ['branchName'] },
  base: {},
  commit: {},
  date: { also: ['datetime', 'timestamp', 'currentDate', 'currentTimestamp'] },
  prdFile: {},
  planFile: {},
  progressFile: {},
  contextFile: {},
} as const satisfies Record<string, Variable>

export type VariableName = keyof typeof VARIABLES
type ModeOf<K extends VariableName> = (typeof VARIABLES)[K] extends { modes: readonly (infer M)[] } ? M : Mode
/** The values for a mode; a function makes a text that templates seldom use. */
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

/** The variables of a mode by their spelling; if two rows have the same one, the first. */
function variablesBySpelling(mode: Mode, spelling: Spelling): Map<string, VariableName> {
  const names = new Map<string, VariableName>()
  for (const name of variableNames(mode))
    for (const alias of [name, ...(TABLE.get(name)?.also ?? [])])
      for (const one of spellings(alias)[spelling]) if (!names.has(one)) names.set(one, name)
  return names
}

const BY_SPELLING = Object.fromEntries(
  MODES.map((mode) => [
    mode,
    { braces: variablesBySpelling(mode, 'braces'), dollar: variablesBySpelling(mode, 'dollar') },
  ]),
)

export function variableNames(mode?: Mode): VariableName[] {
  const names = Object.keys(VARIABLES).filter(isVariable)
  return mode === undefined ? names : names.filter((name) => modesOf(name).includes(mode))
}

function isVariable(name: string): name is VariableName {
  return name in VARIABLES
}

/** The variable of a mode with this spelling; null if there is none. */
export function variableOf(text: string, mode: Mode, spelling: Spelling): VariableName | null {
  return BY_SPELLING[mode]?.[spelling].get(text) ?? null
}

export function spellingsOf(mode: Mode, spelling: Spelling): string[] {
  return [...(BY_SPELLING[mode]?.[spelling].keys() ?? [])]
}

function modesOf(name: VariableName): readonly Mode[] {
  return TABLE.get(name)?.modes ?? MODES
}

export function byteLimitOf(name: string): number | null {
  return TABLE.get(name)?.bytes ?? null
}
