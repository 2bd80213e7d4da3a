// `ralph init` as a person types it: what is written, what is left, and that a second time does nothing.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const MAIN = join(ROOT, 'src', 'cli', 'main.ts')
const PIN = 'a'.repeat(40)
const NODE = {
  'package.json': JSON.stringify({ name: 'x', scripts: { test: 'node --test', lint: 'echo fine' } }),
}

type Said = { code: number; out: string; err: string }
type Project = AsyncDisposable & {
  folder: string
  init(...args: string[]): Said
  ralph(...args: string[]): Said
  read(path: string): Promise<string>
  write(files: Record<string, string>): Promise<void>
  /** Every file with its text. */
  all(): Promise<Record<string, string>>
}

async function open(files: Record<string, string> = {}): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-init-test-'))
  const ralph = (...args: string[]): Said => {
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: join(folder, '..', 'nobody') }
    const script =
      '"$0" "$@" 2>/tmp/err.$$; code=$?; printf "\\0"; cat /tmp/err.$$; rm /tmp/err.$$; exit $code'
    try {
      const [out = '', err = ''] = execFileSync('bash', ['-c', script, process.execPath, MAIN, ...args], {
        cwd: folder,
        env,
        encoding: 'utf8',
        input: '',
      }).split('\0')
      return { code: 0, out, err }
    } catch (error) {
      const { status, stdout } = error as { status: number; stdout: string }
      const [out = '', err = ''] = stdout.split('\0')
      return { code: status, out, err }
    }
  }
  const project: Project = {
    folder,
    ralph,
    init: (...args) => ralph('init', '--pin', PIN, ...args),
    read: (path) => readFile(join(folder, path), 'utf8'),
    async write(texts) {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
    },
    async all() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
      const own = paths
        .map((path) => path.slice(folder.length + 1))
        .filter((path) => !path.startsWith('.git/'))
      return Object.fromEntries(
        await Promise.all(own.sort().map(async (path) => [path, await project.read(path)])),
      )
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
  await project.write(files)
  return project
}

const WRITTEN = [
  '.github/ISSUE_TEMPLATE/ralph.yml',
  '.github/workflows/ralph-resume.yml',
  '.github/workflows/ralph.yml',
  '.ralph/.gitattributes',
  '.ralph/.gitignore',
  'ralph.config.yml',
]

test('a Node project: everything is written, shown before, and a second time there is nothing to do', async () => {
  await using project = await open(NODE)
  const first = project.init('--yes')
  assert.equal(first.code, 0, first.err)
  assert.deepEqual(Object.keys(await project.all()), [...WRITTEN, 'package.json'].sort())
  assert.ok(first.out.indexOf('+name: Ralph') < first.out.indexOf('Wrote '))
  const before = await project.all()
  const second = project.init('--yes')
  assert.match(second.out, /^Nothing to do/m)
  assert.doesNotMatch(second.out, /^\+/m)
  assert.deepEqual(await project.all(), before)
  assert.equal(
    execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: project.folder, encoding: 'utf8' }).split(
      '\n',
    ).length,
    8,
  )
})

test('the configuration obeys its schema and has the gates of the workflow', async () => {
  await using project = await open(NODE)
  project.init('--yes', '--max-iterations', '30')
  const text = await project.read('ralph.config.yml')
  assert.match(
    text,
    /^# yaml-language-server: \$schema=https:\/\/\S+\/schemas\/ralph\.config\.schema\.json$/m,
  )
  const config = parse(text)
  const schema = JSON.parse(await readFile(join(ROOT, 'schemas', 'ralph.config.schema.json'), 'utf8'))
  const isConfig: boolean = new Ajv({ strictTypes: false }).validate(schema, config)
  assert.ok(isConfig)
  assert.deepEqual(config.gates, { lint: 'npm run lint', test: 'npm test' })
  assert.equal(config.maxIterations, 30)
  const { with: inputs, uses } = parse(await project.read('.github/workflows/ralph.yml')).jobs.work.steps[1]
  assert.deepEqual(parse(inputs.gates), config.gates)
  assert.equal(inputs['max-iterations'], 30)
  assert.equal(uses, `ralph/action@${PIN}`)
})
