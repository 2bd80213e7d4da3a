// Answers as data: JSON schemas for programs that can hold their model to one, and the readers of such answers. Markers in the text count
// as before if the answer is in words.
import { asObjects, asString, type Json, jsonObject } from '../engine/model/json.ts'
import type { ClaimedVerdict, ExpectationAnswer } from './signals.ts'

/** What a session is asked for. */
export type AnswerKind = 'verdict' | 'expectation' | 'plan'

/** A schema for a program: its text, and a file with it. */
export type AnswerSchema = { text: string; file: string }

const words = { type: 'string' }
const list = (items: Json, description?: string) => ({
  type: 'array',
  items,
  ...(description === undefined ? {} : { description }),
})
/** As OpenAI asks for: every property is required, and there are no others. */
const object = (properties: Json) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const SCHEMAS: Readonly<Record<AnswerKind, Json>> = {
  verdict: object({
    verdict: {
      enum: ['verified', 'reset'],
      description: 'verified: every criterion of every story is met (VERIFIED). reset: some are not (RESET).',
    },
    stories: list(words, 'The ids of the stories to work on again; empty if verified.'),
    reason: { ...words, description: 'What REASON says; empty if verified.' },
    evidence: list(
      object({ story: words, criterion: { type: 'integer' }, shown: words }),
      'One entry for each criterion: what its EVIDENCE line would say. `shown` is the text after the number of the criterion.',
    ),
    counterexamples: list(
      object({ story: words, command: words }),
      'What COUNTEREXAMPLE says: a command that fails because of what is wrong. May be empty.',
    ),
  }),
  expectation: object({
    expected: { type: 'boolean', description: 'true: EXPECTED. false: UNEXPECTED.' },
    reason: { ...words, description: 'What REASON says; empty if expected.' },
  }),
  plan: object({
    project: words,
    description: words,
    context: words,
    questions: list(words),
    stories: list(
      object({
        id: words,
        title: words,
        description: words,
        acceptanceCriteria: list(words),
        tags: list(words),
        dependsOn: list(words),
        priority: { type: 'integer' },
        touches: list(words),
      }),
    ),
  }),
}

/** The schema of an answer as JSON. */
export function schemaText(kind: AnswerKind): string {
  return JSON.stringify(SCHEMAS[kind])
}

/** The maximum number of entries of each list in a verdict. */
const MAX_LISTED = 5000
const SHOWN_LIMIT = 300
const COMMAND_LIMIT = 500

/** The verdict in an answer that is JSON of its schema; null for any other text, or one without a verdict. */
export function verdictInJson(answer: string): ClaimedVerdict | null {
  const { verdict, stories, reason, evidence, counterexamples } = jsonObject(answer) ?? {}
  if (verdict === 'verified') {
    const shown = asObjects(evidence).slice(0, MAX_LISTED).flatMap(evidenceOf)
    return shown.length === 0 ? { kind: 'verified' } : { kind: 'verified', evidence: shown }
  }
  if (verdict !== 'reset') return null
  const ids = Array.isArray(stories)
    ? stories.filter((id) => typeof id === 'string').slice(0, MAX_LISTED)
    : []
  const commands = asObjects(counterexamples).slice(0, MAX_LISTED).flatMap(commandOf)
  const reset = { kind: 'reset' as const, ids, reason: asString(reason) ?? '' }
  return commands.length === 0 ? reset : { ...reset, commands }
}

/** Whether a change of what gates expect was asked for; null as in `verdictInJson`. */
export function expectationInJson(answer: string): ExpectationAnswer | null {
  const { expected, reason } = jsonObject(answer) ?? {}
  if (expected === true) return { kind: 'expected' }
  return expected === false ? { kind: 'unexpected', reason: asString(reason) ?? '' } : null
}

function evidenceOf({ story, criterion, shown }: Json) {
  const isNamed = typeof story === 'string' && typeof shown === 'string' && shown.trim() !== ''
  if (!isNamed || !Number.isSafeInteger(criterion)) return []
  return [{ storyId: story, criterion: Number(criterion), shown: shown.trim().slice(0, SHOWN_LIMIT) }]
}

function commandOf({ story, command }: Json) {
  const isNamed = typeof story === 'string' && typeof command === 'string' && command.trim() !== ''
  // A part of a command would be another command.
  return isNamed && command.length <= COMMAND_LIMIT ? [{ storyId: story, run: command.trim() }] : []
}
