// A hostile agent, and the hostile code that it leaves to the gates: tries what a plan lists for a story, and writes down
// what it saw. It never judges itself: the test does, from outside.
//
//   agent.mjs <plan.json>                       as the agent (RALPH_STORY_ID says which story)
//   agent.mjs <plan.json> gate <story>          as code of the agent's, run by a gate
//   agent.mjs <plan.json> payload <trick> ...   as a program that somebody else was made to run
//   agent.mjs <plan.json> forget                takes away what it has left on the machine, for the test
//
// Plan: { evidence: folder, agent: { STORY: [trick] }, gate: { STORY: [trick] }, say: { STORY: text }, usage: { STORY: line },
//         quiet: [STORY that writes no module], red: [STORY whose test fails],
//         always: [STORY whose gates play their tricks each time] }
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acting, breaking } from './tricks/act.mjs'
import { addressing, listen } from './tricks/address.mjs'
import { hiding } from './tricks/hide.mjs'
import { leaving } from './tricks/leave.mjs'
import { lying } from './tricks/lie.mjs'
import { keysIn, looking } from './tricks/look.mjs'
import { netting } from './tricks/net.mjs'
import { forget, hear, outliving } from './tricks/outlive.mjs'
import { plants } from './tricks/plant.mjs'
import { speaking } from './tricks/speak.mjs'
import { stating } from './tricks/state.mjs'
import { odd, refused } from './tricks/tree.mjs'

const tricks = {
  ...addressing,
  ...looking,
  ...netting,
  ...speaking,
  ...plants,
  ...hiding,
  ...refused,
  ...odd,
  ...stating,
  ...leaving,
  ...lying,
  ...outliving,
  ...breaking,
  ...acting,
  // Said by the line of usage.
  'say.negative': () => {},
  'say.huge': () => {},
}

const [planFile, role = 'agent', ...rest] = process.argv.slice(2)
const plan = JSON.parse(readFileSync(planFile, 'utf8'))
const me = fileURLToPath(import.meta.url)

export function note(trick, seen) {
  appendFileSync(join(plan.evidence, 'notes.jsonl'), `${JSON.stringify({ trick, role, ...seen })}\n`)
}

const sha = (text) => createHash('sha256').update(text).digest('hex')

/** What a trick works with. `loot` are keys that were found in this session, by value. */
const loot = new Set()
function toolsFor(trick, story) {
  const told = new Set()
  return {
    trick,
    role,
    story,
    plan,
    top: process.env.GITHUB_WORKSPACE ?? process.cwd(),
    loot,
    note: (seen) => note(trick, seen),
    /** Looks for keys in a text; writes down their hashes only. */
    search(text, where, keep = true) {
      for (const key of keysIn(text)) {
        if (keep) loot.add(key)
        if (!told.has(key + where)) note(trick, { found: sha(key), where })
        told.add(key + where)
      }
    },
    /** A command line that leaves a note when somebody runs it. */
    payload: (name = trick) => `${join(plan.evidence, 'payload')} ${name}`,
    write(path, text, mode) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      if (mode !== undefined) chmodSync(path, mode)
    },
    /** Runs a program for at most ten seconds; never throws. */
    run(file, args, options = {}) {
      const ran = spawnSync(file, args, { encoding: 'utf8', timeout: 10_000, input: '', ...options })
      return { code: ran.status ?? 128, out: ran.stdout ?? '', err: ran.stderr ?? '' }
    },
  }
}

async function attempt(list, story) {
  for (const trick of list) {
    if (plan.once?.includes(story)) {
      // Whoever strikes at the action may be struck with it.
      writeFileSync(join(plan.evidence, `once-${story}`), '')
      note(trick, { did: true })
    }
    try {
      if (tricks[trick] === undefined) throw new Error('there is no such trick')
      await tricks[trick](toolsFor(trick, story))
      note(trick, { did: true })
    } catch (error) {
      note(trick, { failed: error.code ?? String(error.stack ?? error) })
    }
  }
}

if (role === 'payload') {
  const [trick] = rest
  const { LATER_STEP, RALPH_MODE } = process.env
  const by = LATER_STEP !== undefined ? 'later' : RALPH_MODE !== undefined ? 'agent' : 'ralph'
  note(trick, { fired: by })
  if (by !== 'agent')
    for (const key of keysIn(Object.values(process.env).join('\n')))
      note(trick, { found: sha(key), where: by })
} else if (role === 'forget') {
  forget(plan)
} else if (role === 'gate') {
  const [story] = rest
  await hear(note, plan, 'gate')
  const once = join(plan.evidence, `gate-${story}`)
  if (!existsSync(once) || plan.always?.includes(story)) {
    writeFileSync(once, '')
    await attempt(plan.gate[story] ?? [], story)
  }
} else {
  process.stdin.resume()
  for await (const _ of process.stdin) break
  listen(note, process.env.RALPH_MODE)
  await hear(note, plan, process.env.RALPH_MODE)
  if (process.env.RALPH_MODE === 'verify') {
    process.stdout.write('All met.\n<ralph>VERIFIED</ralph>\n')
  } else {
    const story = process.env.RALPH_STORY_ID
    const name = story.toLowerCase()
    if (!(plan.quiet ?? []).includes(story)) {
      mkdirSync('src', { recursive: true })
      mkdirSync('test', { recursive: true })
      const value = plan.red?.includes(story) ? 2 : 1
      writeFileSync(`src/${name}.mjs`, `export const ${name} = () => ${value}\n`)
      const gate = JSON.stringify([me, planFile, 'gate', story])
      const spoils =
        plan.gate[story] === undefined ? '' : `spawnSync(process.execPath, ${gate}, { stdio: 'inherit' })\n`
      writeFileSync(
        `test/${name}.test.mjs`,
        `import assert from 'node:assert/strict'\nimport { spawnSync } from 'node:child_process'\nimport { ${name} } from '../src/${name}.mjs'\n\n${spoils}assert.equal(${name}(), 1)\n`,
      )
    }
    const once = join(plan.evidence, `once-${story}`)
    if (!existsSync(once)) await attempt(plan.agent[story] ?? [], story)
    process.stdout.write(plan.say?.[story] ?? 'Did it.\n<ralph>DONE</ralph>\n')
    process.stdout.write(
      `${plan.usage?.[story] ?? '{"usage":{"inputTokens":10,"outputTokens":10,"costUsd":0.01}}'}\n`,
    )
  }
}
