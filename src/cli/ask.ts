// Questions on a terminal. Whoever has none is asked nothing: a command says then what it has to be given.
import type { Readable, Writable } from 'node:stream'
import type { Context } from './context.ts'

/** Ctrl+C or Escape at a question. */
export class Cancelled extends Error {}

export type Choice<T extends string> = { value: T; label: string; hint?: string }

/** Texts of others are shown through `terminalText` by whoever asks. Every question throws Cancelled. */
export type Asking = {
  /** One of several. */
  choose<T extends string>(message: string, choices: readonly Choice<T>[], first?: T): Promise<T>
  /** Any of several, at least one. */
  several<T extends string>(
    message: string,
    choices: readonly Choice<T>[],
    chosen: readonly T[],
  ): Promise<T[]>
  /** A line; `fault` says what is wrong with it, or nothing. Enter takes `standard`. */
  text(
    message: string,
    how?: { standard?: string; hint?: string; fault?: (text: string) => string | undefined },
  ): Promise<string>
  yes(message: string, standard: boolean): Promise<boolean>
}

/** Null where nobody can answer: no terminal on one side, or a CI that has one all the same. */
export function asking(context: Context, input = process.stdin, output = outputOf(context)): Asking | null {
  if (input.isTTY !== true || output.isTTY !== true || isCI(context.env)) return null
  return onTerminal(input, output)
}

/** With `--json` the one line on stdout is the answer, and people look at stderr. */
export function outputOf({ json }: Context): NodeJS.WriteStream {
  return json ? process.stderr : process.stdout
}

function isCI({ CI = '' }: Readonly<Record<string, string>>): boolean {
  return CI !== '' && CI !== 'false' && CI !== '0'
}

function onTerminal(input: Readable, output: Writable): Asking {
  const streams = { input, output }
  // Loaded with the first question: most commands ask none.
  const prompts = () => import('@clack/prompts')
  return {
    async choose(message, choices, first) {
      const { select, isCancel } = await prompts()
      const options = choices.map((one) => ({ ...one }))
      const given = { ...streams, message, options, ...(first === undefined ? {} : { initialValue: first }) }
      const answer = await select<string>(given)
      const chosen = choices.find(({ value }) => value === answer)
      if (isCancel(answer) || chosen === undefined) throw new Cancelled()
      return chosen.value
    },
    async several(message, choices, chosen) {
      const { multiselect, isCancel } = await prompts()
      const options = choices.map((one) => ({ ...one }))
      const answer = await multiselect<string>({ ...streams, message, options, initialValues: [...chosen] })
      if (isCancel(answer)) throw new Cancelled()
      return choices.map(({ value }) => value).filter((value) => answer.includes(value))
    },
    async text(message, { standard = '', hint = '', fault = () => undefined } = {}) {
      const { text, isCancel } = await prompts()
      const validate = (given: string | undefined) =>
        fault(given === undefined || given === '' ? standard : given)
      const placeholder = standard === '' ? hint : standard
      const answer = await text({ ...streams, message, placeholder, defaultValue: standard, validate })
      if (isCancel(answer)) throw new Cancelled()
      return answer.trim()
    },
    async yes(message, standard) {
      const { confirm, isCancel } = await prompts()
      const answer = await confirm({ ...streams, message, initialValue: standard })
      if (isCancel(answer)) throw new Cancelled()
      return answer
    },
  }
}
