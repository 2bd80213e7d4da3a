// prd.json, version 2: one definition for its reader, its order and schemas/prd.schema.json; and what new parts begin with.
import * as z from 'zod/mini'
import { faultOptions } from '../../system/faults.ts'
import { MAX_EXAMPLES, readExamples } from '../model/example.ts'
import {
  Corrects,
  Evidence,
  type LastResult,
  outcomes,
  type Prd,
  type RunRecord,
  type Story,
} from '../model/feature.ts'
import { branchNameFault, branchOfRef, idFault, idPattern } from '../model/safe-names.ts'
import { type Extra, emptyUsage } from '../model/usage.ts'

type FaultOptions = ReturnType<typeof faultOptions>

function expects(expected: string, fix: string): FaultOptions {
  return faultOptions(() => ({ expected, fix }))
}

/** Adds the description that an editor with the schema shows. */
function described<T extends z.core.$ZodType>(schema: T, description: string, more: object = {}): T {
  z.globalRegistry.add(schema, { description, ...more })
  return schema
}

/** A field that may be left out, null or empty: generated files write null if a person writes nothing. */
function withDefault<T extends z.core.SomeType, F>(inner: T, fallback: () => F) {
  return z.pipe(
    z.nullish(inner),
    z.transform((value) => (value === '' ? fallback() : (value ?? fallback()))),
  )
}

const nullValue = () => null
const emptyList = () => []

const textText = expects('a text', 'write it in double quotes')
const anyText = z.string(textText)

function text(max = 50_000) {
  const fix = 'shorten it, or move the detail to prd.md or context.md'
  return anyText.check(z.maxLength(max, expects(`at most ${max} characters`, fix)))
}

const listText = expects('a list of strings', 'write it as a list: ["..."]')

function texts<T extends z.ZodMiniType<string>>(item: T, wrong: FaultOptions = listText) {
  const fix = 'write something there, or remove the entry'
  const emptyText = faultOptions(() => ({ found: 'an empty text', expected: 'a text', fix }))
  return z.array(item.check(z.refine((value) => value.trim() !== '', emptyText)), wrong)
}

/** An id; some tools use numbers. */
const id = z.pipe(z.union([z.string(), z.int(textText)], textText), z.transform(String))

// Adding 0 makes -0 a 0: JSON writes both alike, so only 0 reads back the same.
const number = z
  .number(expects('a number', 'write a number without quotes, such as 1'))
  .check(z.overwrite((value) => value + 0))
const amount = number.check(z.minimum(0, expects('0 or more', 'write 0 or more, or leave it out')))
const count = withDefault(amount, () => 0)
const boolean = z.boolean(expects('true or false', 'write true or false, without quotes'))
const time = withDefault(text(500), nullValue)

type Shape<T> = { [K in Exclude<keyof T, 'extra'>]-?: z.ZodMiniType<T[K]> }

/** An object of these fields; those it does not know go to `extra`, and are written back after them. */
function openObject<T extends { extra?: Extra }>(shape: Shape<T>, wrong: FaultOptions): z.ZodMiniType<T> {
  const split = (fields: Extra): Extra => {
    const unknown = Object.keys(fields).filter((key) => !Object.hasOwn(shape, key))
    if (unknown.length === 0) return fields
    const extra: Extra = {}
    for (const key of unknown) {
      extra[key] = fields[key]
      delete fields[key]
    }
    return { ...fields, extra }
  }
  const schema: z.ZodMiniType = z.pipe(z.looseObject<z.core.$ZodLooseShape>(shape, wrong), z.transform(split))
  // The shape gives every known field its type, which is lost on the way through Object.entries.
  return schema as z.ZodMiniType<T>
}

/** The fields with the status of a story. */
const ralphFlag = described(
  withDefault(boolean, () => false),
  'Ralph writes it.',
)
const ownFieldText = expects('an object or null', 'remove it: Ralph writes it')

export const usageShape: Shape<NonNullable<RunRecord['usage']>> = {
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  costUsd: count,
  agentSeconds: count,
  estimatedCostUsd: z.exactOptional(amount),
  estimatedTokens: z.exactOptional(amount),
  turns: z.exactOptional(amount),
}

/** Ralph's own texts have no limit: its state must never be refused for its size. */
export const runShape: Shape<RunRecord> = {
  startedAt: time,
  completedAt: time,
  currentStoryId: withDefault(id, nullValue),
  // An agent's blank line must not make the state unreadable.
  learnings: withDefault(
    z.pipe(
      z.array(anyText, listText),
      z.transform((learnings) => learnings.filter((learning) => learning.trim() !== '')),
    ),
    emptyList,
  ),
  iterations: count,
  jobs: count,
  outcome: withDefault(z.enum(outcomes, expects(outcomes.join(', '), 'write null')), nullValue),
  usage: withDefault(openObject(usageShape, ownFieldText), emptyUsage),
  control: withDefault(z.record(z.string(), z.unknown(), ownFieldText), () => ({})),
}

const run = openObject(runShape, ownFieldText)

// It reaches git's command line: anything but hexadecimal digits could be an option.
const commit = anyText.check(z.regex(/^(?:[0-9a-fA-F]{4,64})?$/, expects('the id of a commit', 'write null')))

export const lastResultShape: Shape<LastResult> = {
  completedAt: time,
  commit: withDefault(commit, nullValue),
  summary: withDefault(anyText, () => ''),
  how: z.exactOptional(z.enum(['unchanged', 'ungated', 'answered'])),
  iteration: z.exactOptional(amount),
  attempts: z.exactOptional(amount),
  costUsd: z.exactOptional(amount),
  evidence: z.exactOptional(z.array(Evidence)),
  imported: z.exactOptional(boolean),
}

const storyId = id.check(
  z.refine(
    (value) => idFault(value) === null,
    faultOptions((input) => ({
      expected: idFault(String(input)) ?? '',
      fix: 'use an id such as "US-001"',
    })),
  ),
)

const titleText = expects('a title', 'say in one line what the story adds')
const title = z.string(titleText).check(
  z.maxLength(500, expects('at most 500 characters', 'move the detail to the description')),
  z.refine((value) => value.trim() !== '', titleText),
)

const criteriaText = expects(
  'at least one criterion',
  'say how to tell that it is done, such as "npm test passes"',
)
const criteria = texts(
  text(),
  faultOptions((input) => (input == null ? criteriaText : listText).fault(input)),
).check(z.minLength(1, criteriaText))

export const storyShape: Shape<Story> = {
  // A missing id or priority is filled in from the place in the list before this check.
  id: described(
    withDefault(storyId, () => ''),
    'The id of the story in comments and commands. Without one, Ralph gives US-001, US-002 and so on.',
    { pattern: idPattern.source },
  ),
  epicId: withDefault(id, nullValue),
  title: described(title, 'What the story adds, in one line.'),
  description: withDefault(text(), () => ''),
  acceptanceCriteria: described(criteria, 'What must be true when the story is done, one sentence each.'),
  tags: described(
    withDefault(texts(text(100)), emptyList),
    'Tags of the story. A gate or service with `when` runs only for stories that have one of the tags in its `when`.',
  ),
  dependsOn: described(
    withDefault(z.array(id, listText), emptyList),
    'The ids of stories that must pass before this one can start.',
  ),
  priority: described(
    withDefault(number, () => 1),
    'Ralph works on the lowest number first. Without numbers, the order of the list counts.',
  ),
  passes: ralphFlag,
  retries: count,
  blocked: ralphFlag,
  skipped: ralphFlag,
  lastResult: withDefault(openObject(lastResultShape, ownFieldText), nullValue),
  notes: described(
    withDefault(anyText, () => ''),
    'Text for the next attempt at this story.',
  ),
  examples: z.exactOptional(
    described(
      z.pipe(z.unknown(), z.transform(readExamples)),
      'Examples of the criteria, for `examples: sealed`: `criterion` (1 is the first), and `given` and `expect`, which can be any JSON value. Ralph encrypts `expect`.',
      {
        type: 'array',
        maxItems: MAX_EXAMPLES,
        items: {
          type: 'object',
          required: ['given', 'expect'],
          properties: { criterion: { type: 'integer' } },
        },
      },
    ),
  ),
  corrects: z.exactOptional(
    described(Corrects, 'Ralph writes it: this story corrects the work of another one.'),
  ),
}

export const storySchema = openObject(
  storyShape,
  expects('a user story', 'write {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'),
)

const branchName = text(1_000).check(
  z.refine(
    (value) => value === '' || branchNameFault(value) === null,
    faultOptions((input) => {
      const branch = branchOfRef(String(input))
      const fix = branch === null ? 'use a name such as "ralph/auth"' : `write "${branch}"`
      return { expected: `a branch name with ${branchNameFault(String(input))}`, fix }
    }),
  ),
)

export const prdShape: Shape<Prd> = {
  $schema: z.exactOptional(anyText),
  schemaVersion: withDefault(z.literal(2), () => 2 as const),
  project: withDefault(text(500), () => ''),
  branchName: described(
    withDefault(branchName, () => ''),
    'The branch that Ralph works on. If empty: branch-prefix and the name of the feature.',
  ),
  description: withDefault(text(), () => ''),
  run: described(withDefault(run, emptyFileRun), 'The progress of the run: Ralph writes it.'),
  userStories: z.array(storySchema).check(z.minLength(1)),
}

export const prdSchema = described(
  openObject(prdShape, expects('an object', 'write {"userStories": [...]}')),
  'The user stories of one feature, for Ralph to work on.',
  { title: 'prd.json' },
)

function emptyFileRun(): RunRecord {
  return z.parse(run, {})
}

/** A run that has not begun. */
export function emptyRun(): RunRecord {
  const { usage: _inFilesAlone, ...rest } = emptyFileRun()
  return rest
}

/** A feature without a story yet. */
export function emptyPrd(): Prd {
  return { schemaVersion: 2, project: '', branchName: '', description: '', run: emptyRun(), userStories: [] }
}

/** A story that was not worked on yet, with the given fields; without criteria the description, or else the title, is its criterion. */
export function newStory(fields: Partial<Story> & Pick<Story, 'id' | 'title'>): Story {
  return {
    epicId: null,
    description: '',
    acceptanceCriteria: [fields.description?.trim() || fields.title],
    tags: [],
    dependsOn: [],
    priority: 1,
    passes: false,
    retries: 0,
    blocked: false,
    skipped: false,
    lastResult: null,
    notes: '',
    ...fields,
  }
}

/** The story; its pass, if it has one, is marked as imported. */
export function markImported(story: Story): Story {
  if (!story.passes || story.lastResult?.imported === true) return story
  const before = story.lastResult ?? { completedAt: null, commit: null, summary: '' }
  return { ...story, lastResult: { ...before, imported: true } }
}

/**
 * The part of a file of the base branch that a kick-off takes over. Learnings and stories stay, and passes are marked as imported.
 * Everything else of the run begins again, so that a file cannot bring raised limits, usage or its own nonce.
 */
export function asImported(prd: Prd): Prd {
  const run = { ...emptyRun(), learnings: prd.run.learnings }
  return { ...prd, run, userStories: prd.userStories.map(markImported) }
}
