// The demo's agent: reads its prompt, edits files, says what it did. It claims to be done even when it is wrong.
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { evidence, scripted } from './demo-project.ts'

export async function demoAgent(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  for await (const _chunk of process.stdin) {
    // The prompt: a script needs none of it.
  }
  if (env.RALPH_MODE === 'verify') {
    process.stdout.write(
      `Every criterion has a test, and every test passes.\n${evidence()}\n<ralph>VERIFIED</ralph>\n`,
    )
    return usage(900, 60)
  }
  const { says, edits, learning } = scripted(env.RALPH_STORY_ID ?? '', Number(env.RALPH_ATTEMPT ?? '1'))
  for (const text of says) process.stdout.write(`${text}\n`)
  for (const edit of edits) {
    await mkdir(dirname(edit.path), { recursive: true })
    if ('append' in edit) await appendFile(edit.path, edit.append)
    else await writeFile(edit.path, edit.text)
    process.stdout.write(`Edit ${edit.path}\n`)
  }
  if (learning !== null) process.stdout.write(`<ralph>LEARNING:${learning}</ralph>\n`)
  process.stdout.write('<ralph>DONE</ralph>\n')
  return usage(1200, 340)
}

function usage(inputTokens: number, outputTokens: number): number {
  const costUsd = (inputTokens * 3 + outputTokens * 15) / 1e6
  process.stdout.write(`${JSON.stringify({ usage: { inputTokens, outputTokens, costUsd } })}\n`)
  return 0
}
