// `ralph doctor` shows each row as soon as it is known, prepares before it judges, and names a folder of another user.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPlace } from './place.ts'

const STORY = { id: 'US-001' }

test('doctor prints each row when it is known, before the next gate ends, and the verdict last', async () => {
  await using place = await openPlace([STORY])
  const [begun, goOn] = [join(place.folder, 'begun'), join(place.folder, 'go-on')]
  execFileSync('mkfifo', [begun, goOn])
  const slow = `slow=echo begun > ${begun}; cat ${goOn}`
  const child = place.start(['doctor', ...place.agent, '--gate', 'quick=true', '--gate', slow])
  let shown = ''
  child.stdout?.on('data', (text) => {
    shown += text
  })
  assert.equal(await readFile(begun, 'utf8'), 'begun\n')
  assert.match(shown, /^ok +git: /m)
  assert.match(shown, /^ok +gate quick: green/m)
  assert.doesNotMatch(shown, /gate slow|READY/)
  await writeFile(goOn, '')
  const { out, code } = await child.ended
  assert.equal(code, 0)
  assert.match(out, /^ok +gate slow: green.*\n\nIn CI:\nok +workflow: .*\nREADY: /m)
  assert.equal(out.match(/^ok +git: /gm)?.length, 1)
})

test('doctor runs prepare before gates, and no gate when it fails', async () => {
  await using place = await openPlace([STORY], { '.gitignore': 'installed\n' })
  const gate = ['--gate', 'needs=test -e installed']
  const { code, out } = await place.ralph('doctor', ...place.agent, '--prepare', 'touch installed', ...gate)
  assert.equal(code, 0, out)
  assert.match(out, /^ok +prepare: done in/m)
  const red = await place.ralph(
    'doctor',
    ...place.agent,
    '--prepare',
    'echo "error: offline"; exit 4',
    ...gate,
  )
  assert.equal(red.code, 1)
  assert.match(red.out, /^fault +prepare: exit 4 .*error: offline/m)
  assert.doesNotMatch(red.out, /gate needs/)
})

const isRoot = process.getuid?.() === 0
test('doctor names a folder of another user, which git in agent and gates would refuse', {
  skip: !isRoot && 'needs root',
}, async () => {
  await using place = await openPlace([STORY])
  const run = () => place.ralph('doctor', '--no-gates', ...place.agent)
  assert.doesNotMatch((await run()).out, /owner/)
  execFileSync('chown', ['-R', '54321', place.repository])
  const { code, out } = await run()
  assert.equal(code, 1)
  assert.match(out, /^fault +owner: .* is owned by user 54321, and you are user 0.*chown.*safe\.directory/m)
})

const ASKED = ['doctor', '--no-gates', '--ask-agent', '--gate', 'good=true']
const asking = (command: string) => [...ASKED, '--agent', 'custom', '--agent-command', command]

test('doctor --ask-agent starts one session in an empty folder and prints its time and cost', async () => {
  await using place = await openPlace([STORY])
  const seen = join(place.folder, 'seen')
  const usage = '{"usage":{"inputTokens":10,"outputTokens":1,"costUsd":0.02}}'
  const command = `{ cat; ls -A; echo "$PWD in $HOME"; } >> ${seen}; echo READY; echo '${usage}'`
  const found = (await place.json(...asking(command))).findings as { name: string }[]
  const row = found.find(({ name }) => name === 'agent answers') as Record<string, string> | undefined
  assert.equal(row?.state, 'ok')
  assert.match(row?.found ?? '', /^custom answered "READY" \([\d.]+s, cost \$0\.02\)$/)
  const [prompt, where, ...more] = (await readFile(seen, 'utf8')).trim().split('\n')
  assert.match(prompt ?? '', /one word READY/)
  assert.match(
    where ?? '',
    /^(.*)\/tmp in \1$/,
    'the session has a home of its own, and nothing lies where it works',
  )
  assert.deepEqual(more, [], 'one session')
  const { out } = await place.ralph(...asking(command).filter((one) => one !== '--ask-agent'))
  assert.doesNotMatch(out, /agent answers/)
  assert.equal((await readFile(seen, 'utf8')).split('\n').length, 3, 'not asked again')
})

test('doctor --ask-agent: an agent that cannot answer is a fault with a fix, another answer is a warning', async () => {
  await using place = await openPlace([STORY], { 'agent.sh': 'echo READY\n' })
  const broken = await place.ralph(...asking('echo "no credit left" >&2; exit 3'))
  assert.equal(broken.code, 1)
  assert.match(
    broken.out,
    /^fault +agent answers: custom gave no answer: .*exit code 3.*no credit left.*fix: /m,
  )
  const other = await place.ralph(...asking('echo "$(printf "\\033[31m")what?"'))
  assert.equal(other.code, 0, other.out)
  assert.match(
    other.out,
    /^warning +agent answers: custom answered "what\?".*expected the answer READY; fix: /m,
  )
  const relative = await place.ralph(...asking('bash agent.sh'))
  assert.match(
    relative.out,
    /^unknown +agent answers: .*empty folder, which has no agent\.sh; fix: write the absolute path of agent\.sh/m,
  )
})
