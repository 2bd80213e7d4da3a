// A place for one run of a case: a folder with the repository at its base, the agent's script, a home, and a folder outside.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { git, shell } from './hidden.mjs'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** The bundle of the CLI; `RALPH_CLI` names another one, such as an earlier version's. */
export const CLI = process.env.RALPH_CLI ?? join(ROOT, 'dist', 'cli', 'main.js')
const AGENT = join(ROOT, 'bench', 'trust', 'agent.mjs')

/** A case with the words in braces replaced by paths of this run. */
function located(one, paths) {
  const text = Object.entries(paths).reduce(
    (all, [word, path]) => all.replaceAll(`{${word}}`, path),
    JSON.stringify(one),
  )
  return JSON.parse(text)
}

/** Makes the place; `await using` removes it. `goCache`: kept between the cases, for Go compiles its library else each time. */
export function openPlace(original, { goCache, agrees = false, judge: command }) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-trust-'))
  const [repository, home, outside] = ['repository', 'home', 'outside'].map((name) => join(folder, name))
  for (const each of [folder, home, outside, repository]) mkdirSync(each, { recursive: true })
  chmodSync(folder, 0o755)
  // Where every user may write, as /var/tmp is.
  chmodSync(outside, 0o777)
  const cache = `/tmp/${basename(folder)}-cache.json`
  const one = located(original, {
    outside,
    home,
    tmp: cache,
    tsc: join(ROOT, 'node_modules', '.bin', 'tsc'),
  })
  const script = join(folder, 'case.json')
  const { criteria } = one.story
  const judge = agrees ? 'yes' : one.judge
  const data = {
    acts: one.acts,
    say: one.say,
    judge,
    criteria,
    command,
    gate: Object.keys(one.gates)[0],
    marker: join(folder, 'turn'),
  }
  writeFileSync(script, JSON.stringify(data))
  const env = {
    PATH: `${join(ROOT, 'node_modules', 'node', 'bin')}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: 'C.UTF-8',
    GOCACHE: goCache,
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
    GIT_CONFIG_NOSYSTEM: '1',
    PYENV_ROOT: process.env.PYENV_ROOT ?? '',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'b'],
        [`GIT_${who}_EMAIL`, 'b@localhost'],
      ]),
    ),
  }
  for (const name of ['GOFLAGS', 'PYENV_ROOT']) if (env[name] === '') delete env[name]
  for (const [path, text] of Object.entries(one.files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), text)
  }
  git(repository, env, 'init', '-q', '-b', 'main')
  const place = {
    folder,
    repository,
    home,
    outside,
    cache,
    env,
    one,
    isJudged: command !== undefined,
    agent: `"${process.execPath}" "${AGENT}" "${script}"`,
  }
  return {
    ...place,
    /** Commits what stands there now; its commit. */
    commit(message) {
      git(repository, env, 'add', '-A')
      git(repository, env, 'commit', '-q', '--allow-empty', '-m', message)
      return git(repository, env, 'rev-parse', 'HEAD').trim()
    },
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true })
      rmSync(cache, { force: true })
    },
  }
}

/** Lets the agent do what the case says in the repository itself, commits it, and says how its own gates stand there. */
export async function proveCase(place, acts) {
  const { repository, env, one } = place
  const base = place.commit('base')
  const alone = { ...env, RALPH_MODE: 'run' }
  for (let turn = 1; turn <= acts; turn++) {
    const { code, out } = await shell(`${place.agent} < /dev/null`, {
      cwd: repository,
      env: { ...alone, RALPH_ATTEMPT: String(turn) },
    })
    if (code !== 0) throw new Error(`${one.name}: the agent failed: ${out}`)
  }
  let red = null
  for (const [name, line] of Object.entries(one.gates)) {
    const { code, out } = await shell(line, { cwd: repository, env })
    if (code !== 0) red ??= `${name}: ${out.slice(-300)}`
  }
  return { base, head: place.commit('work'), red }
}
