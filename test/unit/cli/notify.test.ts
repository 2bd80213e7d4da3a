// `ralph notify`, and what a person has set up for all runs: variables, and a file that nobody else may read.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { withOwnNotify, withVariables } from '../../../src/cli/notify-own.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { UserError } from '../../../src/system/errors.ts'
import { Loopback } from '../notify/loopback.ts'
import { NOBODY } from '../notify/samples.ts'
import { openPlace } from './place.ts'

const STORIES = [{ id: 'US-001', title: 'one', acceptanceCriteria: ['works'] }]
const SLACK = 'https://hooks.slack.com/services/T0/B0/xyz'

function settingsWith(notify: string) {
  return readSettings({ surface: 'cli', env: {}, flags: { notify } }).settings
}

async function mistakesOf(act: Promise<unknown>) {
  const error = await act.then(
    () => assert.fail('nothing was refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof UserError)
  return error.mistakes
}

test('notify reads the variables of earlier Ralphs: settings first, then the environment, then the file', async () => {
  const HOME = await mkdtemp(join(tmpdir(), 'ralph-home-'))
  const file = join(HOME, '.ralph.env')
  const own = async (notify: string, env = {}) =>
    (await withOwnNotify(settingsWith(notify), { HOME, ...env })).notify
  assert.deepEqual(await own(''), NOBODY, 'no file')
  const lines = [
    '# Ralph',
    `export RALPH_SLACK_WEBHOOK_URL="${SLACK}"`,
    'export RALPH_TELEGRAM_BOT_TOKEN="1:a"',
    "RALPH_TELEGRAM_CHAT_ID='-100'",
    'RALPH_CUSTOM_NOTIFY_SCRIPT="/home/me/my notify.sh"',
    'RALPH_SLACK_USERNAME=Ralph',
  ]
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  assert.deepEqual(await own('discord: https://discord.com/api/webhooks/1/x'), {
    ...NOBODY,
    slack: SLACK,
    discord: 'https://discord.com/api/webhooks/1/x',
    telegram: { botToken: '1:a', chatId: '-100' },
    custom: `'/home/me/my notify.sh' "$1"`,
  })
  const env = { RALPH_SLACK_WEBHOOK_URL: 'https://env.example/x' }
  assert.equal((await own('', env)).slack, 'https://env.example/x')
  assert.equal((await own('slack: https://set.example/x', env)).slack, 'https://set.example/x')

  await writeFile(file, 'RALPH_SLACK_WEBHOOK_URL=ENC:secret\nRALPH_TELEGRAM_BOT_TOKEN=1:a\n')
  const mistakes = await mistakesOf(own(''))
  assert.deepEqual(
    mistakes.map(({ path, found }) => [path, found]),
    [
      ['~/.ralph.env: RALPH_SLACK_WEBHOOK_URL', '(hidden)'],
      ['~/.ralph.env: RALPH_TELEGRAM_CHAT_ID', 'nothing'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(mistakes), /secret/)

  await chmod(file, 0o640)
  assert.deepEqual(await mistakesOf(own('')), [
    {
      path: '~/.ralph.env',
      found: 'other users can read this file, which holds keys (mode 640).',
      expected: '',
      fix: 'chmod 600 ~/.ralph.env',
    },
  ])
  await rm(HOME, { recursive: true })
})

test('what `ralph init --notify` writes is valid, and leaves out what was not asked for', () => {
  const before = '# mine\nexport RALPH_SLACK_WEBHOOK_URL="old"\nOTHER=1\n\n'
  const text = withVariables(before, {
    RALPH_SLACK_WEBHOOK_URL: `${SLACK}?a=1&b='2'`,
    RALPH_WEBHOOK_SECRET: 'a b$c"d',
  })
  assert.match(text, /^# mine\nOTHER=1\nexport RALPH_SLACK_WEBHOOK_URL=/)
  assert.equal(parseEnv(text).RALPH_WEBHOOK_SECRET, 'a b$c"d')
  assert.equal(withVariables('A=0\nB=1\n', { A: '1', B: null }), 'export A=1\n')
})

test('`ralph notify --test` prints each answer, and exits 1 if one failed', async () => {
  await using server = await Loopback.open()
  await using place = await openPlace(STORIES)
  const url = server.url()
  const fine = await place.ralph('notify', '--test', '--notify', `{ slack: "${url}", custom: "cat >&2" }`)
  assert.deepEqual(
    [fine.code, fine.out.split('\n').sort()],
    [0, ['', '✔ custom: exit 0', '✔ slack: HTTP 200']],
    fine.err,
  )
  assert.match(String(server.heard[0]?.body.text), /^🔔 A test/)

  server.reply = (response) => response.writeHead(404).end(`no hook at ${url}`)
  const notify = `{ discord: "${url}", custom: "exit 0" }`
  const failed = await place.ralph('notify', '--test', '--json', '--notify', notify)
  assert.equal(failed.code, 1)
  assert.deepEqual(JSON.parse(failed.out).told, [
    { kind: 'discord', ok: false, answer: 'HTTP 404: no hook at ***' },
    { kind: 'custom', ok: true, answer: 'exit 0' },
  ])
  const one = await place.ralph('notify', '--test', 'custom', '--notify', notify)
  assert.deepEqual([one.code, one.out], [0, '✔ custom: exit 0\n'])
  const told = await place.ralph('notify', '--notify', notify)
  assert.match(told.out, /^A run notifies discord, custom: when it starts, every 5 iterations/)

  const nobody = await place.ralph('notify', '--test')
  assert.equal(nobody.code, 64)
  assert.match(nobody.err, /no service for notifications is set up\.[\s\S]*ralph init --notify/)
  const wrong = await place.ralph('notify', '--test', 'discrod', '--notify', notify)
  assert.match(wrong.err, /did you mean discord\?/)
  const pipe = await place.ralph('init', '--notify')
  assert.match(
    pipe.err,
    /--notify: Ralph cannot ask for the address, because there is no terminal\.[\s\S]*chmod 600/,
  )
})

test('a local run notifies the address in its environment, which its agent does not see', async () => {
  await using server = await Loopback.open()
  await using place = await openPlace(STORIES)
  place.env.RALPH_SLACK_WEBHOOK_URL = server.url()
  await place.setScript({ 'US-001': [{ shell: 'env > seen.txt', say: 'done' }] })
  const { code, out, err } = await place.ralph(
    'run',
    ...place.agent,
    '--gate',
    'test=true',
    '--no-final-verification',
  )
  assert.equal(code, 0, out + err)
  assert.deepEqual(
    server.heard.map(({ body }) => String(body.text).split(' ')[0]),
    ['🚀', '✅'],
  )
  assert.doesNotMatch(place.git('show', 'ralph/sample:seen.txt'), /WEBHOOK|OTEL_/)
})
