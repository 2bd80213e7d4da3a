// Switches off one defence at a time in a copy of the source, builds it, and lets the hostile agent try again: at least one
// attempt has to fail the test. Slow, so it is no part of `npm test`:
//
//   node test/hostile/mutate.mjs [name ...]
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MUTATIONS } from './mutations.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const wanted = process.argv.slice(2)
const chosen = MUTATIONS.filter(({ name }) => wanted.length === 0 || wanted.some((one) => name.includes(one)))
const folder = mkdtempSync(join(tmpdir(), 'mutate-'))
const rows = []
try {
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'action.yml']
  for (const name of ['scripts', ...files]) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { name, file, from, to, stories, also = [], batch = 0, level = 'same-user' } of chosen) {
    rmSync(join(folder, 'src'), { recursive: true, force: true })
    cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
    change(join(folder, file), from, to)
    for (const [more, old, young] of also) change(join(folder, more), old, young)
    const result = tryIt(batch, stories, level)
    rows.push(`| ${name} | \`${file}\` | ${result} |`)
    process.stdout.write(`${rows.at(-1)}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const unseen = rows.filter((row) => row.includes('NOT SEEN'))
process.stdout.write(`${rows.length - unseen.length} of ${rows.length} were seen\n`)
process.exit(unseen.length === 0 ? 0 : 1)

function change(file, from, to) {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no longer: ${from}`)
  writeFileSync(
    file,
    text.replace(from, () => to),
  )
}

function tryIt(batch, stories, level) {
  try {
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'pipe' })
  } catch (error) {
    return `NOT SEEN: it does not build: ${`${error.stdout}${error.stderr}`.slice(0, 400).replaceAll('\n', ' ')}`
  }
  const env = { ...process.env, HOSTILE_ACTION: folder, HOSTILE_BATCH: String(batch) }
  if (stories !== undefined) env.HOSTILE_STORIES = stories
  const args = ['--test', '--test-force-exit', `--test-name-pattern=${level}`, 'test/e2e/hostile.test.ts']
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  if (process.env.HOSTILE_SHOW !== undefined) process.stdout.write(stdout)
  if (status === 0) return 'NOT SEEN'
  const found = [...stdout.matchAll(/^\s+\+ +["'](.+?)["'],?$/gm)].map(([, line]) => line)
  const other = /^ *(?:Error|error): (.*)$/m.exec(stdout)?.[1] ?? 'the run fell over'
  return `${found[0] ?? other}${found.length > 1 ? ` (and ${found.length - 1} more)` : ''}`
}
