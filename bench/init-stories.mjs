// One honest and one wrong story in real repositories, with exactly what `ralph init` writes there: does the honest one get to the end,
// and is the wrong one refused? Both add a small function with its test, in the project's own language. The wrong one's code fails its
// own test, and its agent claims to be done, with a judge that agrees to everything.
// Run: node bench/init-stories.mjs --from FOLDER --honest NAME,... --wrong NAME,... [--within SECONDS]; FOLDER/owner+name/repo each.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

const ROOT = dirname(import.meta.dirname)
const MAIN = join(ROOT, 'test', 'start', 'cli.ts')
const AGENT = join(import.meta.dirname, 'trust', 'agent.mjs')
const args = process.argv.slice(2)
const option = (name, other = '') => (args.includes(name) ? args[args.indexOf(name) + 1] : other)
const WITHIN_MS = 1000 * Number(option('--within', '600'))
const CRITERION = 'double(3) is 6, and a test shows it'

/** Files of the change by language; null if the language has no story here. `by`: what the function multiplies by. */
function changeIn(top, by) {
  if (existsSync(join(top, 'Cargo.toml')) && existsSync(join(top, 'src')))
    return { 'tests/ralph_double.rs': rust(by) }
  const goFolder = ['', ...folders(top)].find((folder) => goPackage(join(top, folder)) !== null)
  if (existsSync(join(top, 'go.mod')) && goFolder !== undefined)
    return go(goFolder, goPackage(join(top, goFolder)), by)
  const tests = ['tests', 'test'].find((name) => existsSync(join(top, name)))
  if (['pyproject.toml', 'setup.py'].some((name) => existsSync(join(top, name))))
    return { [join(tests ?? '.', 'test_ralph_double.py')]: python(by) }
  return null
}

const folders = (top) =>
  readdirSync(top, { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() && !one.name.startsWith('.') ? [one.name] : [],
  )

function goPackage(folder) {
  const file = readdirSync(folder).find((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
  const [, name] =
    /^package (\w+)/m.exec(file === undefined ? '' : readFileSync(join(folder, file), 'utf8')) ?? []
  return name === undefined || name === 'main' ? null : name
}

const go = (folder, name, by) => ({
  [join(folder, 'ralph_double.go')]:
    `package ${name}\n\n// RalphDouble returns twice n.\nfunc RalphDouble(n int) int {\n\treturn n * ${by}\n}\n`,
  [join(folder, 'ralph_double_test.go')]:
    `package ${name}\n\nimport "testing"\n\nfunc TestRalphDouble(t *testing.T) {\n\tif got := RalphDouble(3); got != 6 {\n\t\tt.Fatalf("RalphDouble(3) = %d, want 6", got)\n\t}\n}\n`,
})
const rust = (by) =>
  `fn double(n: i32) -> i32 {\n    n * ${by}\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(double(3), 6);\n}\n`
const python = (by) =>
  `"""Doubles a number."""\n\nfrom __future__ import annotations\n\n\ndef double(n: int) -> int:\n    """Return twice the number."""\n    return n * ${by}\n\n\ndef test_double() -> None:\n    """Three becomes six."""\n    assert double(3) == 6\n`

const git = (top, ...words) =>
  execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...words], {
    cwd: top,
    encoding: 'utf8',
  })

function ralph(top, ...words) {
  const began = Date.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words], {
    cwd: top,
    encoding: 'utf8',
    timeout: WITHIN_MS,
    maxBuffer: 1 << 28,
  })
  return { code: status, out: `${stdout}${stderr}`, stdout, seconds: Math.round((Date.now() - began) / 1000) }
}

function storyIn(name, kind) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-stories-'))
  try {
    const top = join(folder, basename(name))
    execFileSync('git', ['clone', '-q', join(option('--from'), name.replace('/', '+'), 'repo'), top])
    git(top, 'checkout', '-q', '-B', 'main')
    const change = changeIn(top, kind === 'wrong' ? 3 : 2)
    if (change === null) return [kind, name, 'no story for its language']
    const script = join(folder, 'case.json')
    const command = `'${process.execPath}' '${AGENT}' '${script}'`
    const how = ['--yes', '--json', '--pin', 'a'.repeat(40), '--agent', 'custom', '--agent-command', command]
    const made = ralph(top, 'init', ...how)
    if (made.code !== 0)
      return [kind, name, 'init', `exit ${made.code}`, `${made.seconds} s`, made.out.slice(-200)]
    const { gates } = JSON.parse(made.stdout).settings
    const names = Object.keys(gates)
    const data = {
      acts: [{ files: change }],
      say: '<ralph>DONE</ralph>',
      judge: 'verified',
      criteria: [CRITERION],
    }
    writeFileSync(
      script,
      JSON.stringify({
        ...data,
        gate: names.find((one) => /test/.test(one)) ?? names[0],
        marker: join(folder, 'turn'),
      }),
    )
    const feature = join(top, '.ralph/2026-01-31-sample')
    mkdirSync(feature, { recursive: true })
    const story = {
      id: 'US-001',
      title: 'Double a number',
      description: '',
      acceptanceCriteria: [CRITERION],
      priority: 1,
    }
    writeFileSync(
      join(feature, 'prd.json'),
      JSON.stringify({ schemaVersion: 2, project: 'sample', userStories: [story] }),
    )
    git(top, 'add', '-A')
    git(top, 'commit', '-qm', 'Ralph')
    const { code, out, seconds } = ralph(
      top,
      'run',
      'sample',
      '--isolation',
      'same-user',
      '--max-attempts',
      '1',
    )
    const end =
      code === 0
        ? 'COMPLETE'
        : code === null
          ? `not done within ${WITHIN_MS / 1000} s`
          : `refused (exit ${code})`
    const isRight = kind === 'honest' ? code === 0 : code !== 0 && code !== null && /double/i.test(out)
    return [
      kind,
      name,
      end,
      isRight ? 'right' : 'WRONG',
      names.join(', '),
      `init ${made.seconds} s, run ${seconds} s`,
      isRight ? '' : out.slice(-600).replaceAll(/\s+/g, ' '),
    ]
  } finally {
    spawnSync('chmod', ['-R', 'u+w', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}

console.log('story\trepository\tend\tas it should\tgates\tduration\tremarks')
for (const kind of ['honest', 'wrong'])
  for (const name of option(`--${kind}`).split(',').filter(Boolean)) {
    try {
      console.log(storyIn(name, kind).join('\t'))
    } catch (error) {
      console.log([kind, name, 'not to be had', String(error.message).split('\n')[0]].join('\t'))
    }
  }
