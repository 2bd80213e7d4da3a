// The scripted agent and judge of a case. Use: node agent.mjs CASE.json; it edits what the case says and claims to be done.
// Started by a peer there is no RALPH_MODE: then every call is a turn of the agent.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const one = JSON.parse(readFileSync(process.argv[2], 'utf8'))

/** Changes of one turn: files (null removes), edits as [from, to] in a file that stands, then a shell script. */
function act({ files = {}, edits = {}, shell }, env = process.env) {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) rmSync(path, { recursive: true, force: true })
    else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
  }
  for (const [path, list] of Object.entries(edits)) {
    let text = readFileSync(path, 'utf8')
    for (const [from, to] of list) {
      if (!text.includes(from)) throw new Error(`${path} does not hold ${JSON.stringify(from)}`)
      text = text.replaceAll(from, () => to)
    }
    writeFileSync(path, text)
  }
  if (shell) {
    const { status } = spawnSync('bash', ['-ec', shell], { stdio: 'inherit', env })
    if (status !== 0) throw new Error(`the script of the case ended with ${status}`)
  }
}

/**
 * What the judge of this case answers. A real one is a command. The script is of one of three kinds where it is asked whether a change of tests was asked for: `yes`, `no`, or `verified`, which
 * says VERIFIED to everything. All of them say so of the whole.
 */
function judge(prompt) {
  if (one.command !== undefined)
    return spawnSync('bash', ['-c', one.command], { input: prompt, encoding: 'utf8', maxBuffer: 2 ** 26 })
      .stdout
  if (prompt.includes('<ralph>EXPECTED</ralph>')) {
    if (one.judge === 'yes') return '<ralph>EXPECTED</ralph>'
    if (one.judge === 'no')
      return '<ralph>UNEXPECTED</ralph>\n<ralph>REASON:no criterion asks for this change</ralph>'
  }
  const evidence = one.criteria.map(
    (_, at) => `<ralph>EVIDENCE:US-001#${at + 1} gate ${one.gate} shows it</ralph>`,
  )
  return [...evidence, '<ralph>VERIFIED</ralph>'].join('\n')
}

let prompt = ''
if (!process.stdin.isTTY) for await (const chunk of process.stdin) prompt += chunk
if (process.env.RALPH_MODE === 'verify') process.stdout.write(`${judge(prompt)}\n`)
else {
  const turn = Number(process.env.RALPH_ATTEMPT ?? (existsSync(one.marker) ? '2' : '1'))
  act(one.acts[Math.min(turn, one.acts.length) - 1])
  if (process.env.RALPH_MODE === undefined) writeFileSync(one.marker, '')
  process.stdout.write(`${one.say}\n`)
}
