// A plan in the person's own editor: on a copy, so that nothing is written by halves, and a mistake loses no word.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, UserError } from '../system/errors.ts'
import type { Asking } from './ask.ts'

/** Of the person: what they chose for prose comes before what they chose for a line. */
export function editorOf({ VISUAL, EDITOR }: Readonly<Record<string, string>>): string {
  return VISUAL || EDITOR || 'vi'
}

export type Edited<T> = { kind: 'read'; value: T } | { kind: 'unchanged' } | { kind: 'left' }

export type EditOptions<T> = {
  gitDir: string
  name: 'prd.md' | 'prd.json'
  text: string
  env: Readonly<Record<string, string>>
  ask: Asking
  say(lines: readonly string[]): void
  /** Throws UserError with every mistake. */
  read(text: string): T
}

/** Opens a text in the editor until it can be read, or the person gives up; then the copy stays, and is named. */
export async function edit<T>({
  gitDir,
  name,
  text,
  env,
  ask,
  say,
  read,
}: EditOptions<T>): Promise<Edited<T>> {
  const folder = join(gitDir, 'ralph', 'plan')
  const file = join(folder, name)
  await mkdir(folder, { recursive: true })
  await writeFile(file, text)
  for (;;) {
    await open(editorOf(env), file, env)
    const edited = await readFile(file, 'utf8')
    if (edited === text) return { kind: 'unchanged' }
    const mistakes = mistakesOf(() => read(edited))
    if (mistakes.ok) {
      await rm(file, { force: true })
      return { kind: 'read', value: mistakes.value }
    }
    say(mistakes.lines)
    if (await ask.yes(`Open ${name} again? Your edit is in it.`, true)) continue
    say([`Your edit stays in ${file}; the plan is as it was before it.`])
    return { kind: 'left' }
  }
}

function mistakesOf<T>(read: () => T): { ok: true; value: T } | { ok: false; lines: string[] } {
  try {
    return { ok: true, value: read() }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { ok: false, lines: error.message.split('\n') }
  }
}

/** By the shell, as git does: an editor may have arguments. Throws UserError where it cannot be started. */
async function open(editor: string, file: string, env: Readonly<Record<string, string>>): Promise<void> {
  // Ctrl+C is the editor's: the plan behind it is not to be lost.
  const stay = () => {}
  process.on('SIGINT', stay)
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', env: { ...env } })
  const [code] = await once(child, 'close').catch((error: unknown) => [messageOf(error)])
  process.off('SIGINT', stay)
  if (code === 0) return
  const fix = 'set VISUAL or EDITOR to an editor that waits, such as `code --wait`'
  throw new UserError({
    path: '$EDITOR',
    found: `${editor}, which ended with ${code}`,
    expected: 'an editor',
    fix,
  })
}
