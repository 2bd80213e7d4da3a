// Runs a glue: writes its files into a clean tree, and runs its command as the gates' user, in a new process and without keys.
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join, normalize, sep } from 'node:path'
import type { GlueRun } from '../engine/model/example.ts'
import type { GlueInRoom } from '../engine/model/ports.ts'
import type { OtherUser } from '../isolation/other-user.ts'
import { openScratch } from '../isolation/scratch.ts'
import { messageOf } from '../system/errors.ts'
import { runUntrusted } from '../system/process.ts'
import { formatExit, SHELL } from './captured-output.ts'

/** Bytes of stdout that are compared; with more, the run says nothing. */
const MAX_OUTPUT = 1024 * 1024
const MAX_ERRORS = 8 * 1024
const GIVENS = 'ralph-givens.jsonl'

export type GluePlace = {
  /** The tree, and the folder in it that gates run in. */
  top: string
  cwd: string
  env: Readonly<Record<string, string>>
  as: OtherUser | null
  mark?: string
}

/** Never rejects for anything that the glue does. Its files are gone afterwards. */
export async function runGlue(place: GluePlace, glue: GlueInRoom, signal: AbortSignal): Promise<GlueRun> {
  const { top, cwd } = place
  const written: string[] = []
  const files = [...glue.files, { path: GIVENS, text: glue.givens }]
  try {
    for (const { path, text } of files) written.push(await writeNew(top, join(cwd, path), text))
    return await runProgram(place, glue, signal)
  } catch (error) {
    return { ok: false, ended: `not started: ${messageOf(error)}`, output: '', errors: '' }
  } finally {
    for (const file of written) await rm(file, { force: true })
  }
}

async function runProgram(
  { cwd, env, as, mark }: GluePlace,
  { run, timeoutMs }: GlueInRoom,
  signal: AbortSignal,
): Promise<GlueRun> {
  await using scratch = await openScratch(as, mark === undefined ? {} : { mark })
  let output: string | null = ''
  let errors = ''
  const { exit } = await runUntrusted({
    file: 'bash',
    args: [...SHELL, run],
    cwd,
    env: { ...scratch.env(env), RALPH_GIVENS: join(cwd, GIVENS) },
    timeoutMs,
    signal,
    captureBytes: 0,
    lineLimit: MAX_OUTPUT,
    onLine: (stream, line) => {
      if (stream === 'stderr') errors = `${errors}${line}\n`.slice(-MAX_ERRORS)
      else output = output === null || output.length + line.length > MAX_OUTPUT ? null : `${output}${line}\n`
    },
    ...(mark === undefined ? {} : { mark }),
    as: scratch.as,
  })
  const ok = exit.kind === 'exit' && exit.code === 0
  return { ok, ended: formatExit(exit, timeoutMs), output, errors }
}

/** Writes a file that the tree does not have. A glue must not replace a part of the product that it calls. */
async function writeNew(top: string, path: string, text: string): Promise<string> {
  const target = normalize(path)
  if (!target.startsWith(`${top}${sep}`)) throw new Error('one of its files is outside of the repository')
  await mkdir(dirname(target), { recursive: true })
  const folder = await realpath(dirname(target))
  if (`${folder}${sep}`.startsWith(`${await realpath(top)}${sep}`) === false)
    throw new Error('one of its files is outside of the repository')
  await writeFile(target, text, { flag: 'wx' }).catch((error: unknown) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    throw isTaken ? new Error('one of its files would replace a file of the project') : error
  })
  return target
}
