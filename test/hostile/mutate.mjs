// Switches off one defence at a time in a copy of the source, builds it, and lets the hostile agent try again: at least one
// attempt has to fail the test. Slow, so it is no part of `npm test`:
//
//   node test/hostile/mutate.mjs [name ...]
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** `batch`: which of the runs in prove.ts has the attempts that this defence is there for; `stories`: which of its stories; `level`: of isolation. */
const MUTATIONS = [
  {
    name: 'the allow-list gives everything',
    stories: 'LOOK',
    file: 'src/system/untrusted-env.ts',
    from: 'for (const name of Object.keys(full)) if (isAllowed(name)) give(name, full[name], false)',
    to: "for (const [name, value] of Object.entries(full)) entries.set(name, value ?? '')",
  },
  {
    name: 'gates get the keys of models',
    stories: 'LOOK',
    file: 'src/wire.ts',
    from: 'env: gateEnv(options.env, { extra: settings.gateEnv }).env,',
    to: 'env: agentEnv(options.env, { extra: settings.agentEnv, vendor: [], set: {} }).env,',
  },
  {
    name: "the action's environment stays visible",
    stories: 'LOOK',
    file: 'src/action/clean-env.ts',
    from: "if (process.env.GITHUB_EVENT_NAME !== 'workflow_dispatch') return null",
    to: 'if (process.env.NOTHING === undefined) return null',
  },
  {
    name: 'persisted credentials stay',
    stories: 'LOOK',
    file: 'src/git/credentials.ts',
    from: 'const HEADER = ',
    to: 'const HEADER = /^never$/ as RegExp\nexport const UNUSED = ',
  },
  {
    name: 'output is not muted',
    stories: 'SPEAK,RED',
    file: 'src/system/voice.ts',
    from: 'function broken(line: string): string {\n',
    to: "function broken(line: string): string {\n  if (line !== '') return line\n",
    // The terminal's own renderer would do it as well.
    also: ['src/report/escape.ts', ".replaceAll('##[', '## [').replace(/^::/, ': :')", ''],
  },
  {
    name: 'git is looked up on the PATH every time',
    stories: 'USER,LAST',
    file: 'src/git/git.ts',
    from: "programs.get(path) ?? findProgram('git', path) ?? 'git'",
    to: "'git'",
  },
  {
    name: 'the clone is not put back',
    stories: 'REFS,RED',
    file: 'src/git/clone.ts',
    from: '  await putRefsBack(git, snapshot)\n}',
    to: '}',
  },
  {
    name: "the clone's files are not put back",
    stories: 'PLANT',
    file: 'src/git/clone.ts',
    from: 'for (const [file, bytes] of snapshot.files) {',
    to: 'for (const [file, bytes] of [] as [string, Buffer | null][]) {',
  },
  {
    name: 'hooks stay',
    stories: 'PLANT',
    file: 'src/git/clone.ts',
    from: 'if (wanted === undefined) await rm(join(hooks, name), { force: true, recursive: true })',
    to: 'if (wanted === undefined) continue',
  },
  {
    name: "Ralph's git directory is not written anew",
    stories: 'PLANT',
    file: 'src/git/clone.ts',
    from: '  await git.writeConfig()\n  const head',
    to: '  const head',
  },
  {
    name: "a commondir in Ralph's git directory stays",
    stories: 'PLANT',
    file: 'src/git/git.ts',
    from: "if (own === shared) foreign.push(join(own, 'commondir'))",
    to: '',
  },
  {
    name: 'commondir of the clone stays',
    stories: 'COMMONDIR',
    file: 'src/git/clone.ts',
    from: "['commondir', 'gitdir', 'config.worktree']",
    to: '[] as string[]',
  },
  {
    name: 'locks stay',
    stories: 'LOCKS',
    file: 'src/git/clone.ts',
    from: 'await removeLocks(folder)',
    to: '{}',
  },
  {
    name: 'our index is believed',
    stories: 'HIDE',
    file: 'src/git/git.ts',
    from: 'if (this.#sealed === undefined ||',
    to: 'if (this.#sealed !== tree ||',
  },
  {
    name: 'objects are believed',
    file: 'src/git/cat-file.ts',
    from: 'if (hashOf(header, content) !== header.oid)',
    to: "if (hashOf(header, content) === '')",
    batch: 2,
  },
  {
    name: 'replace refs count',
    stories: 'REPLACE',
    file: 'src/git/git.ts',
    from: "      GIT_NO_REPLACE_OBJECTS: '1',\n",
    to: '',
  },
  {
    name: 'the guard is content',
    stories: 'TREE',
    file: 'src/verify/guard.ts',
    from: '  return refusals\n}',
    to: '  return []\n}',
  },
  {
    name: 'links are not looked at',
    stories: 'TREE',
    file: 'src/verify/guard.ts',
    from: 'const wrong = linkFault(change, rules)',
    to: 'const wrong = null as string | null',
  },
  {
    name: 'names are compared as they are spelled',
    stories: 'TREE',
    file: 'src/verify/guard.ts',
    from: 'function foldText(text: string): string {\n',
    to: "function foldText(text: string): string {\n  if (text !== '') return text\n",
  },
  {
    name: 'secrets in diffs are not looked for',
    stories: 'TREE',
    file: 'src/verify/guard.ts',
    from: 'const secret = secretFault(change, rules)',
    to: 'const secret = null as string | null',
  },
  {
    name: 'weakened tests are not counted',
    stories: 'WEAKEN',
    file: 'src/verify/examine.ts',
    from: "options.weakenedTests === 'off' ?",
    to: "options.weakenedTests !== 'off' ?",
  },
  {
    name: '.ralph/ is judged as any folder',
    stories: 'STATE,RED',
    file: 'src/verify/guard.ts',
    from: "return folded === '.ralph' || folded.startsWith('.ralph/')",
    to: "return folded === '.none'",
  },
  {
    name: 'links in the way are followed',
    stories: 'STATE,RED,SAY',
    file: 'src/system/files.ts',
    from: '  if (found !== null && !found.isFile()) await rm(file, { force: true, recursive: true })\n}\n\n/** Removes pipes',
    to: '}\n\n/** Removes pipes',
  },
  {
    name: 'survivors are not ended',
    stories: 'LEAVE,COUNT',
    file: 'src/system/survivors.ts',
    from: '    for (const pid of marked) {\n      found.add(pid)',
    to: '    for (const pid of [] as number[]) {\n      found.add(pid)',
  },
  {
    name: 'texts are not redacted',
    stories: 'ECHO,ECHOGATE',
    file: 'src/system/redact.ts',
    from: null,
    to: null,
  },
  {
    name: 'transcripts are given away as they lie',
    stories: 'ECHO',
    file: 'src/action/work.ts',
    from: 'await redactFiles(',
    to: 'if (settings === null) await redactFiles(',
  },
  {
    name: "the runner's files are not reclaimed",
    file: 'src/action/work.ts',
    from: '    reclaimFiles()\n',
    to: '    if (settings === null) reclaimFiles()\n',
    batch: 1,
  },
  {
    name: 'the report follows links',
    file: 'src/action/work.ts',
    from: 'await replaceFile(reportPath, summary)',
    to: "await (await import('node:fs/promises')).writeFile(reportPath, summary)",
    batch: 1,
  },
  {
    name: 'numbers are believed',
    stories: 'NEGATIVE,HUGE,HUGER',
    file: 'src/agents/sessions.ts',
    from: 'return Math.min(Math.max(said, 0), 1e12) || 0',
    to: 'return said',
  },
  {
    name: 'a signal ends a job green',
    file: 'src/action/main.ts',
    from: "if (conclusion.outcome === 'interrupted') process.exitCode = 1",
    to: '',
    batch: 2,
  },
  {
    name: 'ignored files stay for the final verification',
    file: 'src/git/repository.ts',
    from: 'if (ignoredBefore !== null) await removeIgnored(ignoredBefore)',
    to: '',
    batch: 3,
  },
  {
    name: 'the final verification has the old home',
    file: 'src/verify/gates.ts',
    from: 'await options.as?.renewHome()',
    to: '',
    batch: 4,
    level: 'other-user',
  },
]

const wanted = process.argv.slice(2)
const chosen = MUTATIONS.filter(({ name }) => wanted.length === 0 || wanted.some((one) => name.includes(one)))
const folder = mkdtempSync(join(tmpdir(), 'mutate-'))
const rows = []
try {
  for (const name of ['scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'action.yml'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { name, file, from, to, stories, also, batch = 0, level = 'same-user' } of chosen) {
    rmSync(join(folder, 'src'), { recursive: true, force: true })
    cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
    change(join(folder, file), from, to)
    if (also !== undefined) change(join(folder, also[0]), also[1], also[2])
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
  if (from === null) {
    // The redactor: every text comes out as it went in.
    writeFileSync(
      file,
      text.replace(/(redact)\(text\) \{/, '$1(text) {\n      if (text.length >= 0) return text'),
    )
    return
  }
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
    return `NOT SEEN: it does not build: ${String(error.stdout).slice(0, 200).replaceAll('\n', ' ')}`
  }
  const env = { ...process.env, HOSTILE_ACTION: folder, HOSTILE_BATCH: String(batch) }
  if (stories !== undefined) env.HOSTILE_STORIES = stories
  const args = ['--test', `--test-name-pattern=${level}`, 'test/e2e/hostile.test.ts']
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
