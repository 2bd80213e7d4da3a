// Questions before a plan, each with lettered options, and the answers of people: `1A, 2C`. Pure.
import { asObject, asString } from '../model/json.ts'
import type { Interview, Proposal, Question } from '../model/plan-state.ts'
import { oneLine } from '../model/text.ts'
import { lastJson } from './last-json.ts'

const MAX_QUESTIONS = 5
const LETTERS = ['A', 'B', 'C', 'D']
const MAX_LENGTH = { question: 300, option: 150, answers: 4000 }

/** The questions in a session's final message. Only the first five are read, and long texts are cut. */
export function readQuestions(finalText: string): Proposal {
  const list = lastJson(finalText)?.questions
  if (!Array.isArray(list)) return { kind: 'none', message: 'no list "questions" in the JSON' }
  const questions = list.slice(0, MAX_QUESTIONS).flatMap((item) => questionIn(item) ?? [])
  if (questions.length > 0 || list.length === 0) return { kind: 'asked', questions }
  return { kind: 'none', message: 'no question with a "text"' }
}

function questionIn(value: unknown): Question | null {
  const { text: rawText, options: rawOptions } = asObject(value) ?? {}
  const text = oneLine(asString(rawText) ?? '', MAX_LENGTH.question)
  if (text === '') return null
  const options = (Array.isArray(rawOptions) ? rawOptions : [])
    .map((option) => oneLine(asString(option) ?? '', MAX_LENGTH.option))
    .filter((option) => option !== '')
  return { text, options: options.slice(0, LETTERS.length) }
}

/** How a surface renders a question and an option. */
type Renderer = { question(text: string): string; option(letter: string, text: string): string }

const UNESCAPED: Renderer = { question: (text) => text, option: (letter, text) => `${letter}. ${text}` }

/** The questions for people, one in each line, with their options indented below. Only `renderer` escapes the texts. */
export function questionLines(questions: readonly Question[], renderer = UNESCAPED): string[] {
  return questions.flatMap(({ text, options }, index) => [
    `${index + 1}. ${renderer.question(text)}`,
    ...options.map((option, letter) => `   ${renderer.option(LETTERS[letter] ?? '', option)}`),
  ])
}

/** An example of an answer to these questions. */
export function sampleAnswer(questions: readonly Question[]): string {
  const answers = questions.map(
    ({ options }, index) => `${index + 1}${options.length === 0 ? ': words' : 'A'}`,
  )
  return answers.join(', ')
}

type Answer = { number: number; words: string; isOption: boolean }

/**
 * The questions with their answers, for the session that plans. `fault`: what is wrong with an answer, in a sentence. Text without the
 * number of a question is appended unchanged.
 */
export function answeredQuestions(
  questions: readonly Question[],
  reply: string,
): { text: string } | { fault: string } {
  const parts = reply.slice(0, MAX_LENGTH.answers).split(/([,;\n]|\s+(?=[1-9][A-Za-z](?![\w-])))/)
  const answers: Answer[] = []
  const otherTexts: string[] = []
  // An answer in free text continues until the next answer, over commas and lines.
  let openAnswer: Answer | null = null
  // Pieces and their separators alternate.
  for (let index = 0; index < parts.length; index += 2) {
    const piece = oneLine(parts[index] ?? '', MAX_LENGTH.answers)
    if (piece === '') continue
    const read = answerIn(piece, questions)
    if ('fault' in read) return read
    if ('number' in read) {
      answers.push(read)
      openAnswer = read.isOption ? null : read
    } else if (openAnswer === null) otherTexts.push(read.words)
    else openAnswer.words += `${parts[index - 1]?.trim() ?? ''} ${read.words}`
  }
  const lines = questions.map(({ text, options }, index) => {
    const answered = answers.filter(({ number }) => number === index + 1).map(({ words }) => words)
    const none = `no answer: decide, and note the assumption (options were ${options.join('; ') || 'free'})`
    return `${index + 1}. ${text}\n   ${answered.length === 0 ? none : answered.join('; ')}`
  })
  const otherLines = otherTexts.length === 0 ? [] : [`Also: ${otherTexts.join(', ')}`]
  return { text: [TITLE, ...lines, ...otherLines].join('\n') }
}

const TITLE = '# What the maintainers were asked, and answered'

/** `2C`, `2: words`, or only words. */
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

/** The questions that wait for people's answers; null if there are none. */
export function openQuestions(interview: Interview | undefined): readonly Question[] | null {
  if (interview === undefined || interview.answers !== null) return null
  return interview.questions.length === 0 ? null : interview.questions
}

/** Whether a session has to ask questions first. */
export function mustAskQuestions(interview: Interview | undefined): boolean {
  return interview !== undefined && interview.questions.length === 0 && interview.answers === null
}

/** An interview whose questions a session has to ask yet. */
export const NEW_INTERVIEW: Interview = { questions: [], askedAt: null, answers: null }
