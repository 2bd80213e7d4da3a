// Questions on a terminal. Whoever has none is asked nothing: a command says then what it has to be given.
import type { Readable, Writable } from 'node:stream'
import type { CANCEL_SYMBOL } from '@clack/prompts'
import type { Context } from './context.ts'

/** Ctrl+C or Escape at a question. */
export class Cancelled extends Error {}

export type Choice<T extends string> = { value: T; label: string; hint?: string }

/** Texts of others are shown through `terminalText` by whoever asks. Every question throws Cancelled. */
export type Asking = {
  /** One of several. */
  choose<T extends string>(message: string, choices: readonly Choice<T>[], first?: T): Promise<T>
  /** Any of several. */
  several<T extends string>(
    message: string,
    choices: readonly Choice<T>[],
    chosen: readonly T[],
    isRequired?: boolean,
  ): Promise<T[]>
  /** A line; `fault` says what is wrong with it, or nothing. Enter takes `standard`. */
  text(
    message: string,
    how?: { standard?: string; hint?: string; fault?: (text: string) => string | undefined },
  ): Promise<string>
  /** A line that nobody sees; empty where it was left out. */
  secret(message: string): Promise<string>
  yes(message: string, standard: boolean): Promise<boolean>
}

/** Null where nobody can answer: no terminal on one side, or a CI that has one all the same. */
export function asking({ out, env: { CI = '' } }: Context, input = process.stdin): Asking | null {
  const isCI = CI !== '' && CI !== 'false' && CI !== '0'
  return input.isTTY === true && out.isTTY === true && !isCI ? onTerminal(input, out) : null
}

function onTerminal(input: Readable, output: Writable): Asking {
  const streams = { input, output }
  // Loaded with the first question: most commands ask none.
  const prompts = () => import('@clack/prompts')
  /** What was answered; where the person has left, clack gives a symbol. */
  const given = async <T>(answer: Promise<T | typeof CANCEL_SYMBOL>): Promise<T> => {
    const clack = await prompts()
    const value = await answer
    if (value === clack.CANCEL_SYMBOL) throw new Cancelled()
    return value
  }
  return {
    async choose(message, choices, first) {
      const { select } = await prompts()
      const options = choices.map((one) => ({ ...one }))
      const initial = first === undefined ? {} : { initialValue: first }
      const answer = await given(select<string>({ ...streams, message, options, ...initial }))
      const chosen = choices.find(({ value }) => value === answer)
      if (chosen === undefined) throw new Cancelled()
      return chosen.value
    },
    async several(message, choices, chosen, required = true) {
      const { multiselect } = await prompts()
      const options = choices.map((one) => ({ ...one }))
      const how = { ...streams, message, options, initialValues: [...chosen], required }
      const answer = await given(multiselect<string>(how))
      return choices.map(({ value }) => value).filter((value) => answer.includes(value))
    },
    async text(message, { standard = '', hint = '', fault = () => undefined } = {}) {
      const { text } = await prompts()
      const validate = (typed: string | undefined) => fault(typed?.trim() || standard)
      const placeholder = standard === '' ? hint : standard
      const how = { ...streams, message, placeholder, defaultValue: standard, validate }
      return (await given(text(how))).trim()
    },
    async secret(message) {
      const { password } = await prompts()
      return ((await given(password({ ...streams, message }))) ?? '').trim()
    },
    async yes(message, standard) {
      const { confirm } = await prompts()
      return given(confirm({ ...streams, message, initialValue: standard }))
    },
  }
}
