// A terminal for tests: a program on a pseudo terminal of `script` (util-linux), seen as a person sees it, typed to key by key.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { shellWord } from '../../src/system/shell-word.ts'

export const KEYS = { enter: '\r', down: '\u001b[B', escape: '\u001b', interrupt: '\u0003' }

/** Nothing takes as long, however busy the machine is. */
const PATIENCE_MS = 40_000

export type Terminal = AsyncDisposable & {
  /** Waits until the text stands behind what was seen last; fails with all that was shown where the program ends before. */
  see(text: string): Promise<void>
  type(...keys: readonly string[]): void
  /** What was shown, without the sequences of a terminal. */
  shown(): string
  /** The same with them. */
  raw(): string
  ended: Promise<number>
}

export function openTerminal(
  command: readonly string[],
  { cwd, env, columns = 80 }: { cwd: string; env: Readonly<Record<string, string>>; columns?: number },
): Terminal {
  const line = `stty cols ${columns} rows 50; exec ${command.map(shellWord).join(' ')}`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
  })
  let text = ''
  let seen = 0
  let isOver = false
  let heard = () => {}
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    heard()
  })
  const ended = once(child, 'close').then(([code]) => {
    isOver = true
    heard()
    return Number(code)
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  const shown = () => text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '')
  return {
    shown,
    raw: () => text,
    ended,
    type: (...keys) => child.stdin.write(keys.join('')),
    async see(wanted) {
      for (const until = Date.now() + PATIENCE_MS; ; ) {
        const at = shown().indexOf(wanted, seen)
        if (at >= 0) {
          seen = at + wanted.length
          return
        }
        const left = until - Date.now()
        if (isOver || left <= 0)
          throw new Error(`it never showed ${JSON.stringify(wanted)}:\n${shown().slice(seen)}`)
        const abort = new AbortController()
        const shows = new Promise<void>((resolve) => {
          heard = resolve
        })
        await Promise.race([shows, delay(left, undefined, { signal: abort.signal }).catch(() => {})])
        abort.abort()
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
