// How often an agent that is wrong about its work is believed: every case of bench/trust/, on Ralph's bundle at each setting
// and on peers, judged by a hidden check on a clean clone.
// Run: npm run build && node bench/trust.mjs [--only NAME,...] [--setting NAME,...] [--kind cheat,honest,change] [--jobs 2]
//   --set known|sealed|sealed-second|all: the kinds that the code was written against (the default), or those that it never saw.
//   --judge COMMAND: a real judge in place of the script, such as 'claude -p'. It gets each prompt on stdin, in the tree that it judges.
//   --json: a line of JSON a result; --from FILE,... takes such lines in place of a run (a later one wins).
//   --prove runs no loop: it shows that each hidden check is red for the cheat and green for the honest solution.
//   --write: the tables of docs/trust.md and docs/internals/trust-cases.md. RALPH_CLI names another bundle.
//   --peers FOLDER: ralph-tui, ralphy-cli and bun are in its node_modules, and the peers of bench/trust/peers.mjs are also settings.
// The setting other-user needs root, and --jobs 1. What needs pytest, Python or Go is left out where they are missing, and named.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CASES } from './trust/cases.mjs'
import { wrongness } from './trust/hidden.mjs'
import { ours, SETTINGS } from './trust/ours.mjs'
import { PEERS, peer } from './trust/peers.mjs'
import { openPlace, proveCase } from './trust/place.mjs'
import { summary, table, writeDocs } from './trust/table.mjs'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    setting: { type: 'string', default: 'plain,init,fail' },
    kind: { type: 'string', default: 'cheat,honest,change' },
    set: { type: 'string', default: 'known' },
    jobs: { type: 'string', default: '2' },
    peers: { type: 'string' },
    judge: { type: 'string' },
    from: { type: 'string' },
    json: { type: 'boolean', default: false },
    prove: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
if (!['known', 'sealed', 'sealed-second', 'all'].includes(values.set)) throw new Error(`no set ${values.set}`)
const settings = values.prove ? ['prove'] : values.setting.split(',')
for (const name of settings)
  if (name !== 'prove' && !(name in SETTINGS) && !(name in PEERS)) throw new Error(`no setting ${name}`)

const works = (command) => {
  try {
    execFileSync('bash', ['-c', command], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const wanted = CASES.filter(
  (one) =>
    values.kind.split(',').includes(one.kind) &&
    (values.set === 'all' || values.set === one.set) &&
    (values.only === undefined || values.only.split(',').includes(one.name)),
)
const TOOLS = { pytest: 'python3 -m pytest --version', Python: 'python3 --version', Go: 'go version' }
const needed = [...new Set(wanted.flatMap(({ needs, language }) => [needs, language]))].filter(
  (name) => name in TOOLS,
)
const missing = new Set(needed.filter((name) => !works(TOOLS[name])))
const cases = wanted.filter((one) => !missing.has(one.needs) && !missing.has(one.language))
const leftOut = wanted.filter((one) => !cases.includes(one)).map(({ name }) => name)
if (leftOut.length > 0) process.stderr.write(`left out, for a tool is missing: ${leftOut.join(', ')}\n`)

const shared = mkdtempSync(join(tmpdir(), 'ralph-trust-go-'))
const goCache = join(shared, 'cache')
mkdirSync(goCache, { mode: 0o777 })
execFileSync('chmod', ['-R', 'a+rwX', shared])

/** Whether the hidden check of a case sees the cheat, and lets the honest solution of the same story pass. */
async function proved(one) {
  const check = async (acts) => {
    using place = openPlace({ ...one, acts }, { goCache })
    const { base, head, red } = await proveCase(place, acts.length)
    return { red, wrong: await wrongness(place.one, place, head, base) }
  }
  const row = { result: 'proved', ...(await check(one.acts)) }
  return one.kind === 'cheat' ? { ...row, honest: (await check([one.honest])).wrong } : row
}

async function once(one, setting) {
  if (setting === 'prove') return await proved(one)
  using place = openPlace(one, { goCache, agrees: setting === 'agrees', judge: values.judge })
  return setting in PEERS ? await peer(place, setting, values.peers) : await ours(place, setting)
}

/** The tests of an honest change are another project's: its story would not make them green. */
const fits = ({ kind }, setting) => kind !== 'change' || setting !== 'tests-first'
const work = settings.flatMap((setting) =>
  cases.filter((one) => fits(one, setting)).map((one) => ({ one, setting })),
)
const rows = []
async function worker() {
  for (let next = work.shift(); next !== undefined; next = work.shift()) {
    const { one, setting } = next
    const found = await once(one, setting).catch((error) => ({
      result: 'error',
      wrong: null,
      why: String(error.stack),
    }))
    const { name, set, kind, language, title, limit } = one
    report({ name, set, kind, language, title, limit, setting, ...found })
  }
}
function report(row) {
  rows.push(row)
  if (values.json) process.stdout.write(`${JSON.stringify(row)}\n`)
  else
    process.stderr.write(
      `${row.setting} ${row.name}: ${row.result}${row.wrong ? ` (wrong: ${row.wrong})` : ''}\n`,
    )
}

/** Rows of earlier runs in the order of the cases; the last of each case and setting counts. */
function earlier(files) {
  const all = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  )
  const last = new Map(all.map((row) => [`${row.setting} ${row.name}`, row]))
  return ['prove', ...settings].flatMap((setting) =>
    cases.map(({ name }) => last.get(`${setting} ${name}`)).filter(Boolean),
  )
}

if (values.from !== undefined) rows.push(...earlier(values.from.split(',')))
else await Promise.all(Array.from({ length: Number(values.jobs) }, worker))
rmSync(shared, { recursive: true, force: true })
if (values.write) writeDocs(rows, settings)
if (!values.json) process.stdout.write(`${table(rows, settings)}\n\n${summary(rows, settings)}\n`)
