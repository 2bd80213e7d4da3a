// Installs a tarball into an empty folder, with no registry to ask, and runs the demo there: what a person gets by npx.
// node scripts/release/try.mjs <tarball>
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { refuse } from './refuse.mjs'

const tarball = resolve(process.argv[2] ?? 'no tarball was named')
const folder = mkdtempSync(join(tmpdir(), 'ralph-tarball-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
const [project, home] = [join(folder, 'project'), join(folder, 'home')]
for (const one of [project, home]) mkdirSync(one)
writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
/** Nothing of this machine's but its programs: no registry, no cache, no settings. */
const env = {
  PATH: process.env.PATH,
  HOME: home,
  TMPDIR: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
}

start('npm', ['install', '--save-dev', '--save-exact', tarball], 'npm install, with nothing but the tarball')
const program = join(project, 'node_modules', '.bin', 'ralph')
start(program, ['--version'], 'ralph --version')
const demo = start(program, ['demo', '--json'], 'ralph demo')
const { outcome } = JSON.parse(demo)
if (outcome !== 'complete')
  refuse([
    { path: 'ralph demo', found: `the outcome ${outcome}`, expected: 'complete', fix: 'run it by hand' },
  ])
process.stdout.write('installed from the tarball alone; the demo is complete\n')

/** What it prints on stdout. */
function start(command, args, what) {
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd: project,
    env,
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (status === 0) return stdout
  process.stderr.write(`${stdout}${stderr}`)
  const found = error?.message ?? `exit ${status ?? signal}`
  refuse([{ path: what, found, expected: 'exit 0', fix: 'see what it printed above' }])
}
