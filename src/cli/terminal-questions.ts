// Questions on a terminal. Without a terminal nothing is asked: the command then says which flags it needs.
import type { Readable, Writable } from 'node:stream'
import type { Context } from './command-context.ts'

/** Ctrl+C or Escape at a question. */
export class Cancelled extends Error {}

type Clack = typeof import('@clack/prompts')
type Questions = Pick<Clack, 'confirm' | 'multiselect' | 'password' | 'select' | 'text'>

export type Choice<T extends string> = { value: T; label: string; hint?: string }

/** Untrusted text has to pass `terminalText` before it is asked. Every question throws Cancelled when the person leaves. */
export type TerminalPrompts = ReturnType<typeof onTerminal>

/** Null if no person can answer: without a terminal for input or output, and in CI. */
export function terminalPrompts(
  { out, env: { CI = '' } }: Context,
  input = process.stdin,
): TerminalPrompts | null {
  const isCI = CI !== '' && CI !== 'false' && CI !== '0'
  return input.isTTY === true && out.isTTY === true && !isCI ? onTerminal(input, out) : null
}

type TextOptions = { standard?: string; hint?: string; fault?: (text: string) => string | undefined }

function onTerminal(input: Readable, output: Writable) {
  const streams = { input, output }
  /** Asks, and returns the answer. Throws Cancelled. */
  async function answerOf<T>(ask: (clack: Questions) => Promise<T | Clack['CANCEL_SYMBOL']>): Promise<T> {
    // Loaded with the first question, because most commands ask none. Named one by one, so that the build leaves out the rest.
    const { CANCEL_SYMBOL, confirm, multiselect, password, select, text } = await import('@clack/prompts')
    const value = await ask({ confirm, multiselect, password, select, text })
    if (value === CANCEL_SYMBOL) throw new Cancelled()
    return value as Awaited<T>
  }
  return {
    /** One of several. */
    async choose<T extends string>(message: string, choices: readonly Choice<T>[], first?: T): Promise<T> {
      const options = choices.map((one) => ({ ...one }))
      const initial = first === undefined ? {} : { initialValue: first }
      const answer = await answerOf(({ select }) =>
        select<string>({ ...streams, message, options, ...initial }),
      )
      const chosen = choices.find(({ value }) => value === answer)
      if (chosen === undefined) throw new Cancelled()
      return chosen.value
    },
    /** Any of several. */
    async several<T extends string>(
      message: string,
      choices: readonly Choice<T>[],
      chosen: readonly T[],
      required = true,
    ): Promise<T[]> {
      const options = choices.map((one) => ({ ...one }))
      const prompt = { ...streams, message, options, initialValues: [...chosen], required }
      const answer = await answerOf(({ multiselect }) => multiselect<string>(prompt))
      return choices.map(({ value }) => value).filter((value) => answer.includes(value))
    },
    /** A line of text. `fault` says what is wrong with it, undefined for nothing. Enter takes `standard`. */
    async text(
      message: string,
      { standard = '', hint = '', fault = () => undefined }: TextOptions = {},
    ): Promise<string> {
      const validate = (typed: string | undefined) => fault(typed?.trim() || standard)
      const placeholder = standard === '' ? hint : standard
      const options = { ...streams, message, placeholder, defaultValue: standard, validate }
      return (await answerOf(({ text }) => text(options))).trim() || standard
    },
    /** A line that is not shown while it is typed; '' for none. */
    async secret(message: string): Promise<string> {
      return ((await answerOf(({ password }) => password({ ...streams, message }))) ?? '').trim()
    },
    yes: (message: string, standard: boolean): Promise<boolean> =>
      answerOf(({ confirm }) => confirm({ ...streams, message, initialValue: standard })),
  }
}
