// claude.mjs as the program `claude` of a machine, and what it wrote down.
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Turn } from '../e2e/site.ts'
import { sharedFolder } from './shared.ts'

/** What every session of the fake claude wrote down. */
type Saw = {
  mode: string
  user: string
  key: string
  inSight: string[]
  model: string
  stranger: string
  direct: string
  proxied: string[]
}

/**
 * `script`: its turns by story, as agent.mjs plays them. `key`: what it looks for in everything that it can read. `outside`: a host
 * beyond the machine.
 */
type Wanted = { script: Readonly<Record<string, readonly Turn[]>>; key: string; outside: string }

/** A machine with a claude on its PATH, readable by everybody. */
export async function openClaude({ script: turns, key, outside }: Wanted) {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-claude-'))
  const shared = await sharedFolder('ralph-claude-')
  const [bin, saw, sessions] = [join(folder, 'bin'), join(shared, 'saw'), join(shared, 'sessions')]
  const [script, where] = [join(folder, 'script.json'), join(folder, 'where.json')]
  await mkdir(bin)
  await writeFile(where, JSON.stringify({ key, script, sessions, saw, outside }))
  await writeFile(script, JSON.stringify(turns))
  for (const file of [saw, sessions]) await writeFile(file, '')
  // Wherever the checkout lies, other users need not pass to it.
  for (const name of ['claude.mjs', 'agent.mjs'])
    await copyFile(join(import.meta.dirname, name), join(folder, name))
  const fake = join(folder, 'claude.mjs')
  await writeFile(join(bin, 'claude'), `#!/bin/bash\nexec node "${fake}" "${where}" "$@"\n`)
  for (const one of [folder, shared, join(bin, 'claude')]) await chmod(one, 0o755)
  for (const one of [saw, sessions]) await chmod(one, 0o666)
  return {
    bin,
    saw: async (): Promise<Saw[]> =>
      (await readFile(saw, 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async [Symbol.asyncDispose]() {
      for (const one of [folder, shared]) await rm(one, { recursive: true, force: true })
    },
  }
}
