// The same stories with ralph-tui, on this machine, with a stand-in for claude that takes as long as ours.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { claude, PEERS } from '../trust/peers.mjs'

/** Seconds of wall time; fails where it did not pass every story. */
export async function runTui({ peers, folder, stories, agentSeconds }) {
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
  const agent = `bash -c 'sleep ${agentSeconds}; date +%s%N >"m$(date +%s%N).mjs"; echo "<promise>COMPLETE</promise>"'`
  writeFileSync(join(bin, 'claude'), claude(agent), { mode: 0o755 })
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-qm', 'base'],
  ])
    execFileSync('git', args, { cwd: repository, env })
  const line = PEERS['ralph-tui'].line(peers).replace(/--iterations \d+/, `--iterations ${stories * 2}`)
  const began = performance.now()
  const child = spawn('bash', ['-c', line], { cwd: repository, env, stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'exit')
  const seconds = (performance.now() - began) / 1000
  const { userStories: after } = JSON.parse(readFileSync(join(repository, 'prd.json'), 'utf8'))
  if (!after.every(({ passes }) => passes === true)) throw new Error('ralph-tui did not pass every story')
  return seconds
}
