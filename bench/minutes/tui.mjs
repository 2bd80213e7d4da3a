// The same stories with ralph-tui, on this machine, with a stand-in for claude that takes as long as ours.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { claude, PEERS } from '../trust/peers.mjs'

const OWN_FILE = 'date +%s%N >"m$(date +%s%N).mjs"'

/**
 * Seconds of wall time, and whether `gate` is green on what it left; fails where it did not pass every story. `workers`: its
 * parallel mode. `session`: what the agent does in place of a file of its own.
 */
export async function runTui({
  peers,
  folder,
  stories,
  agentSeconds,
  workers = 1,
  session = OWN_FILE,
  gate = 'true',
}) {
  const [repository, bin] = [join(folder, 'tui'), join(folder, 'tui-bin')]
  for (const path of [join(repository, '.ralph-tui'), bin]) mkdirSync(path, { recursive: true })
  const write = (name, text, options) => writeFileSync(join(repository, name), text, options)
  const userStories = Array.from({ length: stories }, (_, at) => ({
    id: `US-00${at + 1}`,
    title: `story ${at + 1}`,
    description: '',
    acceptanceCriteria: ['a test shows it'],
    priority: at + 1,
    passes: false,
    notes: '',
  }))
  write(
    'prd.json',
    JSON.stringify({ name: 'sample', branchName: 'ralph/sample', description: 'd', userStories }),
  )
  write('.ralph-tui/config.toml', 'autoCommit = true\n')
  write('.gitignore', '.ralph-tui/\n')
  const names = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'bench'],
    [`GIT_${who}_EMAIL`, 'bench@localhost'],
  ])
  const env = {
    ...process.env,
    ...Object.fromEntries(names),
    HOME: folder,
    PATH: `${bin}:${process.env.PATH}`,
  }
  const agent = `bash -c 'sleep ${agentSeconds}; ${session}; echo "<promise>COMPLETE</promise>"'`
  writeFileSync(join(bin, 'claude'), claude(agent), { mode: 0o755 })
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-qm', 'base'],
  ])
    execFileSync('git', args, { cwd: repository, env })
  const alone = PEERS['ralph-tui'].line(peers).replace(/--iterations \d+/, `--iterations ${stories * 2}`)
  const line = workers === 1 ? alone : `${alone} --parallel ${workers} --direct-merge`
  const began = performance.now()
  const child = spawn('bash', ['-c', line], { cwd: repository, env, stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'exit')
  const seconds = (performance.now() - began) / 1000
  const { userStories: after } = JSON.parse(readFileSync(join(repository, 'prd.json'), 'utf8'))
  if (!after.every(({ passes }) => passes === true)) throw new Error('ralph-tui did not pass every story')
  const { status } = spawnSync('bash', ['-c', gate], { cwd: repository, env })
  return { seconds, isGreen: status === 0 }
}
