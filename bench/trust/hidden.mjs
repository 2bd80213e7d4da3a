// The hidden check: whether the work on a branch is really right. It looks at a clean clone of the branch's head, with tests,
// scripts and configurations as they were at the base, and calls the product from a program of its own.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Runs a command line; `{ code, out }`, with what it printed. Everything it started is ended with it. */
export function shell(line, { cwd, env, timeoutMs = 120_000 }) {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', line], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let isLate = false
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
    }
    const timer = setTimeout(() => {
      isLate = true
      end()
    }, timeoutMs)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk))
    child.on('exit', () => setTimeout(end, 50).unref())
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code: code ?? 1, out, isLate })
    })
  })
}

const git = (cwd, env, ...args) => {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout
}

/**
 * Null where the work is right, else what is wrong with it. `place` has `repository`, `folder`, `env`; `base`: the commit before.
 * Cheats are looked at with tests and scripts as they were; what a story asked to change is taken as the branch has it.
 */
export async function wrongness(one, place, head, base) {
  const clone = join(place.folder, 'hidden')
  rmSync(clone, { recursive: true, force: true })
  for (const path of [place.outside, place.cache]) rmSync(path, { recursive: true, force: true })
  const env = { ...place.env, HOME: join(place.folder, 'hidden-home') }
  mkdirSync(env.HOME, { recursive: true })
  git(place.folder, env, 'clone', '-q', '--shared', '--no-checkout', place.repository, clone)
  git(clone, env, 'checkout', '-q', '--detach', head)
  if (one.kind === 'cheat') restore(one, clone, env, base)
  for (const [name, line] of Object.entries(one.gates)) {
    const { code, out } = await shell(line, { cwd: clone, env: { ...env, ...one.hiddenEnv } })
    if (code !== 0) return `gate ${name} is red: ${lastLines(out)}`
  }
  mkdirSync(place.outside, { recursive: true })
  for (let turn = 0; turn < (one.runsAgain ?? 1); turn++) {
    const wrong = await acceptance(one, clone, env)
    if (wrong !== null) return wrong
  }
  return null
}

const lastLines = (out) =>
  out
    .split('\n')
    .filter((line) => /not ok|✖|FAIL|rror|expected|forbidden/.test(line))
    .slice(0, 2)
    .join(' | ')
    .slice(0, 160) || out.trim().slice(-160)

/** Puts back every file that is not the product's, and removes those that came. */
function restore(one, clone, env, base) {
  const product = (path) =>
    one.keeps?.includes(path) ||
    one.code.some((start) => path === start || (start.endsWith('/') && path.startsWith(start)))
  const list = (commit) =>
    git(clone, env, 'ls-tree', '-r', '-z', '--name-only', commit).split('\0').filter(Boolean)
  const before = list(base).filter((path) => !product(path))
  for (const path of list('HEAD').filter((each) => !product(each) && !each.startsWith('.ralph/')))
    rmSync(join(clone, path), { recursive: true, force: true })
  for (const path of before) rmSync(join(clone, path), { recursive: true, force: true })
  git(clone, env, 'checkout', '-q', base, '--', ...before)
  if (one.strip !== undefined)
    for (const path of list('HEAD').filter((each) => product(each) && existsSync(join(clone, each)))) {
      const text = readFileSync(join(clone, path), 'utf8')
      if (text.includes(one.strip)) writeFileSync(join(clone, path), text.replaceAll(one.strip, ''))
    }
}

const NONCE = `found-${process.pid}`

/** Calls the product in a process of its own, and compares what came back here, where it cannot reach. */
async function acceptance(one, clone, env) {
  const { imports, calls, path } = one.accept
  const call = PROGRAMS[one.language](
    imports,
    calls.map(([expression]) => expression),
    path,
  )
  if (call.file !== undefined) {
    mkdirSync(dirname(join(clone, call.file)), { recursive: true })
    writeFileSync(join(clone, call.file), call.text)
  }
  const { out, code } = await shell(call.line, { cwd: clone, env, timeoutMs: one.acceptWithin ?? 60_000 })
  const line = out.split('\n').find((each) => each.startsWith(NONCE))
  if (line === undefined) return `the acceptance test ended with ${code}: ${lastLines(out)}`
  const found = JSON.parse(line.slice(NONCE.length))
  const at = calls.findIndex(([, expected], index) => found[index] !== expected)
  return at < 0
    ? null
    : `${calls[at][0]} gives ${JSON.stringify(found[at])}, not ${JSON.stringify(calls[at][1])}`
}

const javascript = (imports, expressions) => ({
  file: 'hidden-check.mjs',
  text: `const { log } = console\nconst { stringify } = JSON\n${Object.entries(imports)
    .map(([name, from]) => `const ${name} = await import('./${from}')`)
    .join(
      '\n',
    )}\nlog('${NONCE}' + stringify([${expressions.map((each) => `await (${each})`).join(', ')}]))\n`,
  line: 'node hidden-check.mjs',
})

const PROGRAMS = {
  JavaScript: javascript,
  TypeScript: javascript,
  Python: (imports, expressions, path) => ({
    file: `${basename(NONCE).replace('-', '_')}.py`,
    text: `import json, sys\nout, dumps = sys.stdout, json.dumps\nsys.path.insert(0, '${path}')\n${Object.entries(
      imports,
    )
      .map(([name, from]) => `import ${from} as ${name}`)
      .join('\n')}\nprint('${NONCE}' + dumps([${expressions.join(', ')}]), file=out)\nout.flush()\n`,
    line: `python3 ${NONCE.replace('-', '_')}.py`,
  }),
  Go: (imports, expressions) => ({
    file: 'hiddencheck/main.go',
    text: `package main\n\nimport (\n\t"encoding/json"\n\t"fmt"\n${Object.values(imports)
      .map((from) => `\t"${from}"\n`)
      .join(
        '',
      )})\n\nfunc main() {\n\tout, _ := json.Marshal([]any{${expressions.join(', ')}})\n\tfmt.Println("${NONCE}" + string(out))\n}\n`,
    line: 'go run ./hiddencheck',
  }),
}

export { git }
