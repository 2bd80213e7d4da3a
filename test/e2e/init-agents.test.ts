// The workflow that `ralph init` writes for each agent, with the action's defaults: its first job comes to a session. The agents'
// programs are stand-ins that end at once; the real ones are driven by agents-real.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { agentNames, findAgent } from '../../src/agents/registry.ts'
import { sharedFolder } from '../fakes/shared.ts'
import { lacks } from '../machine/needs.ts'
import { annotationsOf, openSite, outputsOf, ROOT, story } from './site.ts'

const CLI = join(ROOT, 'dist', 'cli', 'main.js')
const PIN = 'a'.repeat(40)

/** The workflow for an agent, without the lines that this test replaces: its program comes from the PATH, and one attempt is enough. */
async function initialized(agent: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-init-agents-'))
  try {
    await writeFile(join(folder, 'package.json'), '{"name":"sample","scripts":{"test":"node --test"}}\n')
    const command = agent === 'custom' ? ['--agent-command', 'custom-agent'] : []
    const args = [CLI, 'init', '--yes', '--no-try', '--pin', PIN, '--agent', agent, ...command]
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const text = await readFile(join(folder, '.github', 'workflows', 'ralph.yml'), 'utf8')
    const own = /( {6}- uses: ralph\/action@.*\n {8}with:\n)/
    assert.match(text, own)
    return text
      .replace(/^ +(?:agent-version|prepare|max-attempts): .*\n/gm, '')
      .replace(own, "$1          max-attempts: '1'\n          baseline: 'off'\n")
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A folder with the agent's program, which writes down in which mode it was started, and fails. */
async function openProgram(name: string) {
  const folder = await sharedFolder('ralph-program-')
  const [bin, saw] = [join(folder, 'bin'), join(folder, 'saw')]
  await mkdir(bin)
  await writeFile(saw, '')
  await writeFile(
    join(bin, name),
    `#!/bin/bash\ncase "$*" in *--version*) echo 99.0.0; exit;; esac\necho "$RALPH_MODE as $(id -un)" >>"${saw}"\nexit 1\n`,
  )
  for (const [path, mode] of [
    [folder, 0o755],
    [bin, 0o755],
    [join(bin, name), 0o755],
    [saw, 0o666],
  ] as const)
    await chmod(path, mode)
  return {
    bin,
    saw: () => readFile(saw, 'utf8'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

for (const agent of agentNames)
  test(`the first job of what init writes for ${agent} comes to a session as another user`, {
    skip: lacks('root', 'ip'),
  }, async () => {
    const text = await initialized(agent)
    const program = agent === 'custom' ? 'custom-agent' : (findAgent(agent)?.program ?? '')
    await using own = await openProgram(program)
    const names = [...text.matchAll(/\$\{\{ secrets\.(\w+) \}\}/g)].map(([, name = '']) => name)
    await using site = await openSite({
      stories: [story('US-001', 'one')],
      script: {},
      workflow: () => text,
      runner: {
        path: [own.bin],
        secrets: Object.fromEntries(names.map((name) => [name, `not-a-key-${'0'.repeat(30)}`])),
      },
    })
    const run = await site.go()
    assert.match(await own.saw(), /^run as ralph-[0-9a-f]{8}\n$/, site.log())
    assert.equal(outputsOf(run).outcome, 'stuck', annotationsOf(run, 'error').join('\n'))
  })
