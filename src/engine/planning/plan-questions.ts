// Questions before a plan, each with lettered options, and the answers of people: `1A, 2C`. Pure.
import { asObject, asString } from '../model/json.ts'
import type { Interview, Proposal, Question } from '../model/plan-state.ts'
import { oneLine } from '../model/text.ts'
import { lastJson } from './last-json.ts'

const MAX_QUESTIONS = 5
const LETTERS = ['A', 'B', 'C', 'D']
const MAX_LENGTH = { question: 300, option: 150, answers: 4000 }

/** The questions in a session's final message; too many, or too long ones, are cut. */
export function readQuestions(words: string): Proposal {
  const list = lastJson(words)?.questions
  if (!Array.isArray(list)) return { kind: 'none', message: 'no list "questions" in the JSON' }
  const questions = list.slice(0, MAX_QUESTIONS).flatMap((one) => questionIn(one) ?? [])
  if (questions.length > 0 || list.length === 0) return { kind: 'asked', questions }
  return { kind: 'none', message: 'no question with a "text"' }
}

function questionIn(value: unknown): Question | null {
  const { text: rawText, options: listed } = asObject(value) ?? {}
  const text = oneLine(asString(rawText) ?? '', MAX_LENGTH.question)
  const all = Array.isArray(listed) ? listed : []
  const options = all.flatMap((one) => oneLine(asString(one) ?? '', MAX_LENGTH.option) || [])
  return text === '' ? null : { text, options: options.slice(0, LETTERS.length) }
}

/** How a surface renders a question and an option. */
type Writing = { question(text: string): string; option(letter: string, text: string): string }

const UNESCAPED: Writing = { question: (text) => text, option: (letter, text) => `${letter}. ${text}` }

/** The questions as people read them, a line each, their options indented. Escaped by `writing` alone. */
export function questionLines(questions: readonly Question[], writing = UNESCAPED): string[] {
  return questions.flatMap(({ text, options }, index) => [
    `${index + 1}. ${writing.question(text)}`,
    ...options.map((option, at) => `   ${writing.option(LETTERS[at] ?? '', option)}`),
  ])
}

/** An example of an answer to these questions. */
export function sampleAnswer(questions: readonly Question[]): string {
  const letters = questions.map(({ options }, at) => `${at + 1}${options.length === 0 ? ': words' : 'A'}`)
  return letters.join(', ')
}

type Answer = { number: number; words: string; isOption: boolean }

/**
 * The questions with their answers, for the session that plans; or what is wrong with an answer, in a sentence. Text
 * without the number of a question is appended as it is.
 */
export function answeredQuestions(
  questions: readonly Question[],
  reply: string,
): { text: string } | { fault: string } {
  const parts = reply.slice(0, MAX_LENGTH.answers).split(/([,;\n]|\s+(?=[1-9][A-Za-z](?![\w-])))/)
  const answers: Answer[] = []
  const more: string[] = []
  // An answer in free text goes on until the next answer, over commas and lines.
  let openAnswer: Answer | null = null
  for (let at = 0; at < parts.length; at += 2) {
    const piece = oneLine(parts[at] ?? '', MAX_LENGTH.answers)
    if (piece === '') continue
    const read = answerIn(piece, questions)
    if ('fault' in read) return read
    if ('number' in read) {
      answers.push(read)
      openAnswer = read.isOption ? null : read
    } else if (openAnswer === null) more.push(read.words)
    else openAnswer.words += `${parts[at - 1]?.trim() ?? ''} ${read.words}`
  }
  const lines = questions.map(({ text, options }, index) => {
    const own = answers.filter(({ number }) => number === index + 1).map(({ words }) => words)
    const none = `no answer: decide, and note the assumption (options were ${options.join('; ') || 'free'})`
    return `${index + 1}. ${text}\n   ${own.length === 0 ? none : own.join('; ')}`
  })
  return {
    text: [TITLE, ...lines, ...(more.length === 0 ? [] : [`Beside them: ${more.join(', ')}`])].join('\n'),
  }
}

const TITLE = '# What the maintainers were asked, and answered'

/** `2C`, `2: words`, or words alone. */
function answerIn(
  piece: string,
  questions: readonly Question[],
): Answer | { words: string } | { fault: string } {
  const [, lettered, letter = ''] = /^([1-9])\s?[.):]?\s?([A-Za-z])[.)]?(?: (?:and|&))?$/.exec(piece) ?? []
  // `2.5` is a number.
  const [, named, words = ''] = /^([1-9])\s?(?:[):=]|\.(?!\d))\s*(\S.*)$/.exec(piece) ?? []
  const number = Number(lettered ?? named)
  if (Number.isNaN(number)) return { words: piece }
  const question = questions[number - 1]
  const count = questions.length
  if (question === undefined)
    return { fault: `${piece}: there ${count === 1 ? 'is 1 question' : `are ${count} questions`}` }
  if (lettered === undefined) return { number, words, isOption: false }
  const option = question.options[LETTERS.indexOf(letter.toUpperCase())]
  if (option !== undefined) return { number, words: option, isOption: true }
  const last = LETTERS[question.options.length - 1]
  return {
    fault: `${piece}: question ${number} has ${last === undefined ? 'no options' : `the options A to ${last}`}`,
  }
}

/** Questions that wait for people; null where there are none. */
export function openQuestions(interview: Interview | undefined): readonly Question[] | null {
  return interview === undefined || interview.questions.length === 0 || interview.answers !== null
    ? null
    : interview.questions
}

/** Whether a session has to ask questions first. */
export function mustAskQuestions(interview: Interview | undefined): boolean {
  return interview !== undefined && interview.questions.length === 0 && interview.answers === null
}

/** An interview whose questions a session has to ask yet. */
export const NEW_INTERVIEW: Interview = { questions: [], askedAt: null, answers: null }
