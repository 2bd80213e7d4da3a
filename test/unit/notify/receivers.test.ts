// What each service gets, as its vendor documents it; and what a service can answer, which ends and slows nothing.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { type NotifySettings, notifySecrets } from '../../../src/notify/notice.ts'
import { receiversOf } from '../../../src/notify/receivers.ts'
import type { Notice } from '../../../src/notify/state-changes.ts'
import { sentence } from '../../../src/report/sentence.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { type Heard, Loopback } from './loopback.ts'
import { NOBODY, notice } from './samples.ts'

const PLACE = { env: { PATH: process.env.PATH }, cwd: '/tmp', isModelKey: () => false }
const never = new AbortController().signal

async function deliver(
  settings: Partial<NotifySettings>,
  message: Notice = notice(),
  more: { telegramApi?: string; timeoutMs?: number; cwd?: string } = {},
) {
  const [receiver] = receiversOf({ ...NOBODY, ...settings }, { ...PLACE, ...more })
  assert.ok(receiver)
  return receiver.deliver(message, never)
}

async function heardBy(kind: 'slack' | 'discord' | 'teams' | 'telegram' | 'webhook', message = notice()) {
  await using server = await Loopback.open()
  const settings =
    kind === 'telegram'
      ? { telegram: { botToken: '1:abc', chatId: '-100' } }
      : kind === 'webhook'
        ? { webhook: { url: server.url(), secret: 'It is a secret to everybody' } }
        : { [kind]: server.url() }
  const answer = await deliver(settings, message, { telegramApi: server.url('') })
  assert.deepEqual(answer, { ok: true, detail: 'HTTP 200' })
  assert.equal(server.heard.length, 1)
  const heard = server.heard[0]
  assert.ok(heard)
  assert.equal(heard.headers['content-type'], 'application/json')
  return heard
}

test("Slack: text is escaped, without links or unfurling but Ralph's one link", async () => {
  const { body } = await heardBy('slack')
  assert.deepEqual(body, {
    text: '🛑 Stuck: US-002 is blocked · 1 of 2 stories pass',
    blocks: [
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: '🛑 Stuck: US-002 is blocked · 1 of 2 stories pass',
          verbatim: true,
        },
      },
      {
        type: 'section',
        text: { type: 'mrkdwn', text: 'Say `/ralph retry US-002 -- &lt;hint&gt;`.', verbatim: true },
      },
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: 'acme/shop · auth · 7 iterations · $0.42 · <https://github.com/acme/shop/pull/7|Pull request>',
            verbatim: true,
          },
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  })
})

test('Discord: one embed without mentions', async () => {
  const { body } = await heardBy('discord')
  assert.deepEqual(body, {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: 'Pull request',
        url: 'https://github.com/acme/shop/pull/7',
        description:
          '**🛑 Stuck: US\\-002 is blocked · 1 of 2 stories pass**\nSay `/ralph retry US-002 -- <hint>`.',
        footer: { text: 'acme/shop · auth · 7 iterations · $0.42' },
        timestamp: '2026-01-10T14:05:00.000Z',
      },
    ],
  })
})

test('Teams: an Adaptive Card for Workflows, with text runs without markdown', async () => {
  const { body } = await heardBy('teams')
  const attachments = body.attachments as { contentType: string; content: Record<string, unknown> }[]
  assert.deepEqual([body.type, attachments.length], ['message', 1])
  assert.equal(attachments[0]?.contentType, 'application/vnd.microsoft.card.adaptive')
  const { type, version, body: lines, actions } = attachments[0]?.content ?? {}
  assert.deepEqual([type, version], ['AdaptiveCard', '1.4'])
  assert.deepEqual(lines, [
    {
      type: 'RichTextBlock',
      inlines: [
        { type: 'TextRun', text: '🛑 Stuck: US-002 is blocked · 1 of 2 stories pass', weight: 'Bolder' },
      ],
    },
    {
      type: 'RichTextBlock',
      inlines: [{ type: 'TextRun', text: 'Say /ralph retry US-002 -- <hint>.' }],
    },
    {
      type: 'RichTextBlock',
      inlines: [
        { type: 'TextRun', text: 'acme/shop · auth · 7 iterations · $0.42', isSubtle: true, size: 'Small' },
      ],
    },
  ])
  assert.deepEqual(actions, [
    { type: 'Action.OpenUrl', title: 'Pull request', url: 'https://github.com/acme/shop/pull/7' },
  ])
})

test('Telegram: plain text without parse_mode', async () => {
  const { path, body } = await heardBy('telegram')
  assert.equal(path, '/bot1:abc/sendMessage')
  assert.deepEqual(body, {
    chat_id: '-100',
    text: [
      '🛑 Stuck: US-002 is blocked · 1 of 2 stories pass',
      'Say /ralph retry US-002 -- <hint>.',
      'acme/shop · auth · 7 iterations · $0.42',
      'https://github.com/acme/shop/pull/7',
    ].join('\n'),
    link_preview_options: { is_disabled: true },
  })
})

test('webhook: JSON, signed as GitHub signs, with event and delivery in headers', async () => {
  const { body, text, headers } = await heardBy('webhook')
  assert.deepEqual(body, {
    event: 'outcome',
    deliveryId: '01234567-89ab-cdef-0123-456789abcdef',
    at: '2026-01-10T14:05:00.000Z',
    repository: 'acme/shop',
    project: 'Shop',
    feature: 'auth',
    branch: 'ralph/auth',
    generation: 3,
    outcome: 'stuck',
    headline: 'Stuck: US-002 is blocked · 1 of 2 stories pass',
    next: 'Say /ralph retry US-002 -- <hint>.',
    stories: { total: 2, passed: 1, skipped: 0, blocked: ['US-002'] },
    iterations: 7,
    jobs: 2,
    costUsd: 0.42,
    tokens: 48_000,
    pullRequestUrl: 'https://github.com/acme/shop/pull/7',
    runUrl: 'https://github.com/acme/shop/actions/runs/1',
  })
  const signed = createHmac('sha256', 'It is a secret to everybody').update(text).digest('hex')
  assert.equal(headers['x-ralph-signature-256'], `sha256=${signed}`)
  assert.equal(headers['x-ralph-event'], 'outcome')
  assert.equal(headers['x-ralph-delivery'], '01234567-89ab-cdef-0123-456789abcdef')
  assert.match(String(headers['user-agent']), /^ralph-action\//)
})

test('a command gets the message on stdin and as $1, details in variables, and no token', async () => {
  const env = {
    PATH: process.env.PATH,
    GITHUB_TOKEN: 'ghs_0123456789abcdef',
    GITHUB_WORKSPACE: '/w',
    OTHER: '1',
  }
  const custom =
    'test "$(cat)" = "$1" && test "$RALPH_EVENT $RALPH_OUTCOME $RALPH_STORIES_PASSED/$RALPH_STORIES_TOTAL $RALPH_URL" = "outcome stuck 1/2 https://github.com/acme/shop/pull/7" && test -z "$GITHUB_TOKEN$GITHUB_WORKSPACE$OTHER" && pwd >&2'
  const [receiver] = receiversOf({ ...NOBODY, custom }, { ...PLACE, env })
  assert.deepEqual(await receiver?.deliver(notice(), never), { ok: true, detail: 'exit 0' })
  assert.deepEqual(await deliver({ custom: 'echo no such channel >&2; exit 3' }), {
    ok: false,
    detail: 'exit 3: no such channel',
  })
  const odd = notice({
    feature: 'a\0b',
    stories: { total: 1, passed: 0, skipped: 0, blocked: ['$(id)\n\0'] },
  })
  const told = await deliver({ custom: 'test "$RALPH_STORIES_BLOCKED" = "\\$(id)"' }, odd)
  assert.deepEqual(told, { ok: true, detail: 'exit 0' })
  const slow = await deliver({ custom: 'sleep 30 & sleep 30' }, notice(), { timeoutMs: 300 })
  assert.deepEqual(slow, { ok: false, detail: 'timeout' })
  const nowhere = await deliver({ custom: 'true' }, notice(), { cwd: '/tmp/not-there' })
  assert.match(nowhere.detail, /^not-started: the working directory \/tmp\/not-there does not exist/)
})

test('receivers that answer 302, 500, 429, nothing or an endless body are handled', async () => {
  await using server = await Loopback.open()
  const to = { slack: server.url() }
  server.reply = (response) => response.writeHead(302, { location: server.url('/elsewhere') }).end()
  assert.equal((await deliver(to)).detail, 'HTTP 302: a redirect, which is not followed')
  assert.equal(server.heard.length, 1, 'not followed')

  server.reply = (response) => response.writeHead(500).end('no_service')
  assert.deepEqual(await deliver(to), { ok: false, detail: 'HTTP 500: no_service' })

  server.reply = () => {}
  assert.deepEqual(await deliver(to, notice(), { timeoutMs: 200 }), {
    ok: false,
    detail: 'no answer within 0.2 s',
  })

  server.heard.length = 0
  server.reply = (response) => response.writeHead(429, { 'retry-after': '0' }).end()
  assert.equal((await deliver(to)).detail, 'HTTP 429')
  assert.equal(server.heard.length, 2, 'once more, where it says when')

  server.heard.length = 0
  server.reply = (response) => response.writeHead(429, { 'retry-after': '60' }).end()
  assert.equal((await deliver(to)).detail, 'HTTP 429')
  assert.equal(server.heard.length, 1, 'not so late')

  server.reply = (response) => {
    response.write('x'.repeat(100_000))
  }
  assert.equal((await deliver(to)).ok, true, 'its head is enough')

  const nobody = await deliver({ slack: 'http://127.0.0.1:1/services/x' })
  assert.equal(nobody.ok, false)
})

test('hostile text in any field mentions no person, makes no link and breaks no message', async () => {
  const texts = [
    ...hostileStrings.map(({ text }) => text),
    '<!channel> <!here> <@U012> @channel @everyone @here',
    '[click](https://evil.example) <https://evil.example|x> http://evil.example www.evil.example',
    '<at>Bob</at> <tg-spoiler>x</tg-spoiler> :tada:',
  ]
  await using server = await Loopback.open()
  const url = server.url('')
  const receivers = receiversOf(
    {
      ...NOBODY,
      slack: url,
      discord: url,
      teams: url,
      telegram: { botToken: '1:a', chatId: '1' },
      webhook: { url, secret: null },
    },
    { ...PLACE, telegramApi: url },
  )
  for (const text of texts) {
    const message = notice({
      headline: text,
      repository: text,
      project: text,
      feature: text,
      branch: text,
      next: sentence`Say ${{ code: text }} to ${{ text }}.`,
      stories: { total: 1, passed: 0, skipped: 0, blocked: [text] },
    })
    for (const receiver of receivers) {
      const { ok, detail: said } = await receiver.deliver(message, never)
      assert.ok(ok, `${receiver.kind}: ${said}`)
      if (receiver.kind !== 'webhook') harmless(receiver.kind, server.heard.at(-1), text)
    }
  }
})

function harmless(kind: string, heard: Heard | undefined, text: string): void {
  const said = stringsIn(heard?.body).join('\n').replaceAll('https://github.com/acme/shop/pull/7', '')
  const what = `${kind}: ${JSON.stringify(text)} gave ${said}`
  // In a span of code neither Discord nor Slack looks for anything but Slack's own controls.
  const outside = said.replace(/`[^`\n]*`/g, '')
  assert.doesNotMatch(outside, /@\w|\]\(https?:\/\/|:tada:/, what)
  if (kind === 'slack') assert.doesNotMatch(said, /<(?!\|Pull request>)/, what)
  assert.doesNotMatch(
    outside.replace('http://adaptivecards.io/schemas/adaptive-card.json', ''),
    /https?:\/\//,
    what,
  )
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

test("receivers' addresses and keys are secret values; a well-known path is not", () => {
  const slack = 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'
  const secrets = notifySecrets({
    ...NOBODY,
    slack,
    telegram: { botToken: '123456789:ABCdef', chatId: '1' },
    webhook: { url: 'https://a.example/hook', secret: 'signs-it-all' },
  })
  assert.deepEqual(secrets, [
    slack,
    '/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    'XXXXXXXXXXXXXXXXXXXXXXXX',
    'https://a.example/hook',
    '123456789:ABCdef',
    'signs-it-all',
  ])
  assert.deepEqual(notifySecrets({ ...NOBODY, webhook: { url: 'https://a.example/', secret: null } }), [])
  const own = { url: 'https://a.example/hook/0123456789abcdef', secret: null }
  assert.deepEqual(notifySecrets({ ...NOBODY, webhook: own }), [own.url, '0123456789abcdef'])
})
