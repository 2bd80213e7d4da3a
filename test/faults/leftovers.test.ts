// What is left behind once a run was killed and the next one has ended: work trees, homes, copies of the login, temporary folders, refs,
// files of Ralph in `.git`, processes. Counted for every way to run on a laptop, killed in each part of a run.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import test from 'node:test'
import { CLI } from '../e2e/laptop.ts'
import { story } from '../e2e/site.ts'
import { type Clone, openClone } from '../fakes/clone.ts'
import { endWrong, processesWith } from './invariants.ts'

const IDS = ['US-001', 'US-002', 'US-003']
/** The words of a login, whichever copy of it: the second is what a session made of it. */
const [LOGIN, RENEWED] = ['1', '2'].map((at) =>
  JSON.stringify({ tokens: { access: `secret-${at}`, refresh: `secret-${at}` } }),
) as [string, string]

type Mode = { name: string; flags: string[]; sessions: number }
const MODES: Mode[] = [
  { name: 'one story at a time', flags: [], sessions: 1 },
  { name: 'max-parallel', flags: ['--max-parallel', '3'], sessions: 3 },
  { name: 'candidates', flags: ['--candidates', '2'], sessions: 1 },
  { name: 'candidates and max-parallel', flags: ['--candidates', '2', '--max-parallel', '3'], sessions: 3 },
]

/** Where a program of the run waits to be killed with it: `held` writes a line, and then nothing until the run is over. */
const MOMENTS = ['prepare', 'a session', 'its gates', 'the clean room', 'the judge'] as const
type Moment = (typeof MOMENTS)[number]

/** A codex that renews its login, works, and leaves a process that has its own session. */
function agentProgram(folder: string): string {
  const hold = (moment: Moment) => holdAt(folder, moment)
  return `#!/bin/bash
[ "$1" = --version ] && { echo codex-cli 0.169.0; exit; }
[[ "$*" == *--help* || "$1" == login ]] && exit
cat >/dev/null
says() { printf '%s\\n' '{"type":"thread.started","thread_id":"t"}' '{"type":"turn.started"}' "{\\"type\\":\\"item.completed\\",\\"item\\":{\\"id\\":\\"i\\",\\"type\\":\\"agent_message\\",\\"text\\":\\"$1\\"}}" '{"type":"turn.completed","usage":{"input_tokens":500,"cached_input_tokens":0,"output_tokens":50}}'; }
if [ "$RALPH_MODE" = verify ]; then ${hold('the judge')}; says '<ralph>VERIFIED</ralph>'; exit; fi
setsid sleep 600 </dev/null >/dev/null 2>&1 &
printf '%s' '${RENEWED}' >"$HOME/.codex/auth.json"
mkdir -p src cache && echo "good $RALPH_STORY_ID" >"src/$RALPH_STORY_ID.txt" && echo x >cache/ignored
touch "$TMPDIR/of-a-session"
echo "$RALPH_PROMPT_FILE" >>'${folder}/prompts'
${hold('a session')}
says '<ralph>DONE</ralph>'
`
}

/** A line of bash that waits there if this is the moment of the plan. */
function holdAt(folder: string, moment: Moment): string {
  return `[ "$(cat '${folder}/moment')" != '${moment}' ] || { echo held >>'${folder}/held'; sleep 600; }`
}

async function openPlace(): Promise<Clone> {
  const prd = {
    schemaVersion: 2,
    project: 'Sample',
    branchName: 'ralph/sample',
    description: '',
    userStories: IDS.map((id) => story(id, `part ${id}`)),
  }
  const clone = await openClone(CLI, {
    '.ralph/2026-01-31-sample/prd.json': JSON.stringify(prd),
    '.gitignore': 'cache/\nnode_modules/\n',
  })
  const { folder } = clone
  const [home, bin, tmp] = ['home', 'bin', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const one of [join(home, '.codex'), bin, tmp]) await mkdir(one, { recursive: true })
  await writeFile(join(home, '.codex', 'auth.json'), LOGIN, { mode: 0o600 })
  await writeFile(join(bin, 'codex'), agentProgram(folder))
  await chmod(join(bin, 'codex'), 0o755)
  const service = `require('http').createServer((_, to) => to.end()).listen(process.env.RALPH_PORT, '127.0.0.1')`
  const config = {
    prepare: `${holdAt(folder, 'prepare')}; mkdir -p node_modules && touch node_modules/installed`,
    services: {
      web: { start: `exec '${process.execPath}' -e "${service}"`, ready: 'http://localhost:$RALPH_PORT/' },
    },
    gates: {
      good: `case "$PWD" in */clean-*) ${holdAt(folder, 'the clean room')};; esac; ! ls src | grep -q US || { ${holdAt(folder, 'its gates')}; }; touch "$TMPDIR/of-a-gate"; ! grep -rq bad src`,
    },
  }
  await clone.write({ 'ralph.config.json': JSON.stringify(config) })
  clone.git('add', '-A')
  clone.git('commit', '-q', '--amend', '-m', 'base')
  Object.assign(clone.env, { HOME: home, TMPDIR: tmp, PATH: `${bin}:${clone.env.PATH}` })
  return clone
}

const FLAGS = ['run', '--agent', 'codex', '--isolation', 'same-user', '--baseline', 'off']

const below = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    : []

/** Everything of a run that is still there, by what it is. Logs and transcripts are kept on purpose, and so is what prepare installed. */
function leftOf(clone: Clone) {
  const { folder, repository, env } = clone
  const secrets = execFileSync('grep', ['-rlE', 'secret-[12]', folder], { encoding: 'utf8' }).split('\n')
  const home = below(env.HOME ?? '').filter((path) => path !== '.codex/auth.json')
  return {
    workTrees: clone.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length,
    linked: existsSync(join(repository, '.git/worktrees'))
      ? readdirSync(join(repository, '.git/worktrees'))
      : [],
    home,
    places: existsSync(join(env.HOME ?? '', '.cache/ralph'))
      ? readdirSync(join(env.HOME ?? '', '.cache/ralph'))
      : [],
    temporary: readdirSync(env.TMPDIR ?? ''),
    logins: secrets.filter(
      (path) =>
        path !== '' &&
        ![join(env.HOME ?? '', '.codex/auth.json'), join(env.PATH?.split(':')[0] ?? '', 'codex')].includes(
          path,
        ),
    ),
    refs: clone.git('for-each-ref', '--format=%(refname)').split('\n'),
    files: below(join(repository, '.git'))
      .filter((path) => !/^(?:objects|ralph\/(?:logs|transcripts)|logs\/refs|refs|hooks)\//.test(path))
      .sort(),
    // A file that git ignores is a person's to keep, such as what `prepare` installed.
    uncommitted: clone.git('status', '--porcelain', '--untracked-files=all'),
    processes: processesWith(folder),
  }
}

/** Comes back when so many programs of the run wait. */
async function held({ folder }: Clone, count: number, run: { exitCode: number | null }): Promise<void> {
  const file = join(folder, 'held')
  while (!existsSync(file) || readFileSync(file, 'utf8').split('\n').length <= count) {
    assert.equal(run.exitCode, null, 'the run ended before its moment')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A git whose input has been closed ends by itself, on a busy machine a moment after the run. */
async function ended({ folder }: Clone): Promise<void> {
  for (const until = Date.now() + 5_000; processesWith(folder).length > 0 && Date.now() < until; )
    await new Promise((resolve) => setTimeout(resolve, 20))
}

for (const mode of MODES)
  test(`killed in each part of a run (${mode.name}), and continued without it: nothing is left behind`, async (t) => {
    await using undisturbed = await openPlace()
    writeFileSync(join(undisturbed.folder, 'moment'), '')
    const whole = await undisturbed.start([...FLAGS, ...mode.flags]).ended
    assert.equal(whole.code, 0, whole.err)
    const prompts = readFileSync(join(undisturbed.folder, 'prompts'), 'utf8').trim().split('\n')
    assert.ok(new Set(prompts).size >= mode.sessions, 'sessions side by side have prompts of their own')
    const usual = leftOf(undisturbed)
    const nothing = {
      workTrees: 1,
      linked: [],
      home: [],
      places: [],
      temporary: [],
      logins: [],
      processes: [],
    }
    assert.deepEqual({ ...usual, ...nothing }, usual)
    for (const moment of MOMENTS) {
      await using clone = await openPlace()
      writeFileSync(join(clone.folder, 'moment'), moment)
      const run = clone.start([...FLAGS, ...mode.flags])
      const together = moment === 'a session' || moment === 'its gates' ? mode.sessions : 1
      await held(clone, together, run)
      run.kill('SIGKILL')
      await run.ended
      writeFileSync(join(clone.folder, 'moment'), '')
      // Without the mode, so that nothing depends on lanes that are opened again.
      const next = await clone.start(FLAGS).ended
      assert.equal(next.code, 0, `${moment}: ${next.err}${next.out}`)
      await ended(clone)
      assert.deepEqual(leftOf(clone), usual, `killed in ${moment}`)
      assert.equal(readFileSync(join(clone.env.HOME ?? '', '.codex/auth.json'), 'utf8'), RENEWED, moment)
      // Each candidate is an iteration, and one of them lands.
      const isCounted = (line: string) => mode.flags.includes('--candidates') && /iteration/i.test(line)
      // Stories side by side land in any order.
      const anyOrder = mode.flags.includes('--max-parallel')
      const wrong = (await endWrong(clone.repository, { anyOrder })).filter((line) => !isCounted(line))
      assert.deepEqual(wrong, [], moment)
      t.diagnostic(`${mode.name}, killed in ${moment}: nothing is left`)
    }
  })
