// Questions before a plan: what is read of a session's words, and what people's answers come to.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  answeredQuestions,
  questionLines,
  readQuestions,
  sampleAnswer,
} from '../../../../src/engine/planning/plan-questions.ts'
import { hostileStrings } from '../../../fixtures/hostile-strings.ts'
import { anyText, runs } from '../../runs.ts'

const QUESTIONS = [
  { text: 'What is the primary goal?', options: ['Fewer passwords', 'Fewer calls'] },
  { text: 'Who may sign in?', options: ['Everybody', 'Customers', 'Staff'] },
  { text: 'What should it not do?', options: [] },
]
const block = (value: unknown) => `I looked.\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\``
const textOf = (said: string) => {
  const read = answeredQuestions(QUESTIONS, said)
  assert.ok('text' in read, JSON.stringify(read))
  return read.text
}
const faultOf = (said: string) => {
  const read = answeredQuestions(QUESTIONS, said)
  return 'fault' in read ? read.fault : null
}

test('planning questions: at most five with at most four options each; an empty list is valid, no list is an error', () => {
  const options = ['a', 'b', 'c', 'd', 'e', 7, '']
  const many = Array.from({ length: 9 }, (_, at) => ({ text: `Q${at}`, options }))
  const read = readQuestions(block({ questions: many }))
  assert.ok(read.kind === 'asked')
  assert.deepEqual(
    read.questions.map(({ text, options: kept }) => [text, kept.join('')]),
    [0, 1, 2, 3, 4].map((at) => [`Q${at}`, 'abcd']),
  )
  assert.deepEqual(readQuestions(block({ questions: [] })), { kind: 'asked', questions: [] })
  for (const words of ['Which one?', block({ stories: [] }), block({ questions: [7, { options }] })])
    assert.equal(readQuestions(words).kind, 'none', words)
})

test('answers to planning questions by letter, by text, mixed or missing reach the planning session', () => {
  assert.deepEqual(questionLines(QUESTIONS).slice(0, 3), [
    '1. What is the primary goal?',
    '   A. Fewer passwords',
    '   B. Fewer calls',
  ])
  assert.equal(sampleAnswer(QUESTIONS), '1A, 2A, 3: words')
  for (const said of ['1B, 2C', '1b 2c', '1B; 2 C', '1: B\n2) C', '1. b, 2.C.'])
    assert.match(
      textOf(said),
      /goal\?\n {3}Fewer calls\n2\. Who may sign in\?\n {3}Staff\n3[^\n]*\n {3}no answer/,
      said,
    )
  assert.match(
    textOf('2: customers and staff, 3: no passwords at all'),
    /customers and staff[\s\S]*no passwords at all/,
  )
  assert.match(
    textOf('2: staff, customers; no robots\nat version 2.5, 3.5 or later, 3: no 2A batteries'),
    /\n {3}staff, customers; no robots at version 2\.5, 3\.5 or later\n3[^\n]*\n {3}no 2A batteries$/,
  )
  assert.match(textOf('1A and 2C'), /Fewer passwords\n2[^\n]*\n {3}Staff/)
  assert.match(textOf('1A, 1B'), /Fewer passwords; Fewer calls/)
  assert.match(textOf('1A, but keep the old form'), /Also: but keep the old form/)
  assert.match(textOf(''), /no answer[\s\S]*no answer[\s\S]*no answer/)
})

test('an answer with a letter or number without an option is reported', () => {
  assert.equal(faultOf('1C'), '1C: question 1 has the options A to B')
  assert.equal(faultOf('1A, 7B'), '7B: there are 3 questions')
  assert.equal(faultOf('3A'), '3A: question 3 has no options')
})

test('any answers stay limited, in the lines of their questions', () => {
  const words = fc.oneof(anyText(), fc.constantFrom(...hostileStrings.map(({ text }) => text)))
  fc.assert(
    fc.property(words, (said) => {
      const read = answeredQuestions(QUESTIONS, said)
      if ('fault' in read) return
      const lines = read.text.split('\n')
      assert.ok(lines.length === 7 || (lines.length === 8 && lines[7]?.startsWith('Also: ')), read.text)
      assert.ok(read.text.length < 10_000)
    }),
    runs(100),
  )
})
