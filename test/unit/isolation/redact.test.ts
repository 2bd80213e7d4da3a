// What the redactor finds, in a text and line by line, and that its time grows with the text alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyShapes } from '../../../src/agents/registry.ts'
import { KEY_RULES } from '../../../src/isolation/redact/key-rules.ts'
import { keyStarts } from '../../../src/isolation/redact/shapes.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { anyText, runs } from '../runs.ts'

// Put together at run time, so that no scanner takes this file for a leak.
const SECRET = ['hunter2', 'with+odd/chars "and" <more>'].join('-')
const GITHUB = `ghp_${'a1B2'.repeat(9)}`
const WEB_TOKEN = [btoa('{"alg":"HS256"}'), btoa('{"sub":"1"}'), 'c2lnbmF0dXJl'].join('.').replaceAll('=', '')
const KEY_LINES = [64, 64, 10].map((length) => 'MIIEow+/'.repeat(8).slice(0, length)).join('\n')
const pem = (name: string): string =>
  `-----BEGIN ${name}PRIVATE KEY-----\n${KEY_LINES}\n-----END ${name}PRIVATE KEY-----`

const one = createRedactor([SECRET], keyShapes)
const none = createRedactor([], keyShapes)

test('redaction replaces a known value everywhere in a text', () => {
  assert.equal(one.redact(`a ${SECRET} b ${SECRET}`), 'a *** b ***')
  assert.equal(one.redact(`${SECRET}${SECRET}`), '***')
  assert.equal(one.redact('nothing here'), 'nothing here')
})

test('redaction finds the usual encodings of a value', () => {
  const bytes = Buffer.from(SECRET)
  const forms: Record<string, string> = {
    json: JSON.stringify({ key: SECRET }),
    'json in json': JSON.stringify({ text: JSON.stringify({ key: SECRET }) }),
    url: `https://x.test/?q=${encodeURIComponent(SECRET)}`,
    'url, lower case': encodeURIComponent(SECRET).replace(/%../g, (it) => it.toLowerCase()),
    form: new URLSearchParams({ q: SECRET }).toString(),
    hex: bytes.toString('hex'),
    HEX: bytes.toString('hex').toUpperCase(),
    html: SECRET.replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
    wrapped: `${SECRET.slice(0, 10)}\r\n${SECRET.slice(10)}`,
    'html by numbers': SECRET.replace(/[^a-z]/g, (it) => `&#${it.charCodeAt(0)};`),
    'html of OWASP': SECRET.replace(/[^a-z0-9]/g, (it) => `&#x${it.charCodeAt(0).toString(16)};`),
    'url, half of it': encodeURI(SECRET),
    'url, every byte': [...bytes].map((it) => `%${it.toString(16)}`).join(''),
    'program text': SECRET.replace(/[^a-z]/g, (it) => `\\x${it.charCodeAt(0).toString(16)}`),
    'a shell word': SECRET.replace(/[^a-z0-9-]/g, (it) => `\\${it}`),
    'quoted-printable': `${SECRET.slice(0, 9).replaceAll('-', '=2D')}=\r\n${SECRET.slice(9)}`,
  }
  for (const before of ['', 'x', 'xy', 'x-access-token:']) {
    for (const after of ['', 'z', 'zz']) {
      const text = Buffer.from(before + SECRET + after)
      forms[`base64 ${before}|${after}`] = text.toString('base64')
      forms[`base64url ${before}|${after}`] = text.toString('base64url')
      forms[`base64 in lines ${before}|${after}`] = (text.toString('base64').match(/.{1,20}/g) ?? []).join(
        '\n',
      )
    }
  }
  for (const [name, form] of Object.entries(forms)) {
    assert.ok(one.finds(form), name)
    assert.ok(one.redact(form).includes('***'), name)
    assert.ok(!one.finds(one.redact(form)), name)
    assert.ok(one.finds(new TextEncoder().encode(form)), `${name}, bytes`)
    assert.ok(one.finds(new Uint8Array(Buffer.from(form, 'utf16le'))), `${name}, UTF-16`)
  }
})

const pairs = (bytes: Uint8Array): string[] => [...bytes].map((it) => it.toString(16).padStart(2, '0'))
const grouped = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []

/** The forms in which tools print bytes as hex, in one line or in several. */
function hexForms(bytes: Uint8Array): Record<string, string> {
  const two = pairs(bytes)
  const plain = two.join('')
  return {
    'xxd -p': grouped(plain, 60).join('\n'),
    'mixed case': two.map((it, at) => (at % 2 === 0 ? it.toUpperCase() : it)).join(''),
    'groups of two bytes': grouped(plain, 4).join(' '),
    'groups of four bytes': grouped(plain, 8).join(' '),
    'an odd byte first': [two[0], ...grouped(plain.slice(2), 4)].join(' '),
    colons: two.join(':'),
    'colons, upper case': two.join(':').toUpperCase(),
    dashes: two.join('-'),
    dots: two.join('.'),
    'a C array': grouped(two.map((it) => `0x${it}, `).join(''), 48).join('\n    '),
    'a tight array': `[0x${two.join(',0x')}]`,
    'upper case': `0X${two.join(', 0X').toUpperCase()}`,
    'program text': two.map((it) => `\\x${it}`).join(''),
    'program text in pieces': two.map((it) => `'\\x${it}'`).join(', '),
    'a Buffer of Node': `<Buffer ${two.join(' ')}>`,
    'in words': `secret=${two.join(' ')};`,
    'behind a word': `it-is-${two.join('-')}`,
  }
}

test('redaction finds hex as tools print it', () => {
  const hexadecimal = 'deadbeefcafe0123456789abcdefdeadbeefcafe'
  for (const value of [SECRET, hexadecimal, 'kürzer', 'x'.repeat(100)]) {
    const redactor = createRedactor([value])
    const bytes = new TextEncoder().encode(value)
    for (const [name, form] of Object.entries(hexForms(bytes))) {
      const shown = redactor.redact(`before ${form} behind`)
      assert.ok(shown.includes('***') && !redactor.finds(shown), `${name}: ${shown}`)
      assert.ok(!/7332|2d77|de:?ad|72/i.test(shown), `${name}: ${shown}`)
      assert.equal(redactor.findings(form).length, 1, name)
      assert.equal(redactor.findings(`${form}\n${form}`).length > 0, true, name)
      const wide = hexForms(new Uint8Array(Buffer.from(value, 'utf16le')))[name] ?? ''
      assert.ok(redactor.finds(wide), `${name}, UTF-16`)
    }
  }
})

test('redaction finds base64 of UTF-16, as PowerShell encodes it, in each alignment', () => {
  for (const value of [SECRET, 'passwört-für-alle']) {
    const redactor = createRedactor([value])
    for (const before of ['', 'x', 'xy', '$env:KEY = "']) {
      for (const after of ['', 'z', '"; exit']) {
        const form = Buffer.from(before + value + after, 'utf16le').toString('base64')
        assert.ok(redactor.finds(form), form)
        assert.ok(!redactor.finds(redactor.redact(form)), form)
        assert.ok(redactor.finds(form.replaceAll('+', '-').replaceAll('/', '_')), form)
      }
    }
  }
})

test('redaction leaves other hex, with or without colons', () => {
  const redactor = createRedactor([SECRET, 'abcdef-0123', 'deadbeefcafe'])
  const texts = [
    ...Object.values(hexForms(new TextEncoder().encode('The quick brown fox jumps over the lazy dog'))),
    '123e4567-e89b-12d3-a456-426614174000 link/ether 68:75:6e:74:65:72 brd ff:ff:ff:ff:ff:ff',
    'inet6 fe80::6875:6e74:6572:3200/64 at 2026-11-21T20:26:56 10.68.75.6e',
    'commit 68756e746572320123456789abcdef0123456789',
    'color: #68756e; rgba(68, 75, 6e) \\x68\\x75 0x68, 0x75, 0x6e, 0x74',
    '{"integrity": "sha512-aHVudGVyMi13aXRo", "bytes": [104, 117, 110, 116, 101, 114]}',
    'SHA256 de:ad:be:ef:ca:fd add a bad cafe face bed dad fee 61 62 63 64',
  ]
  for (const text of texts) {
    assert.deepEqual(redactor.findings(text), [], text)
    assert.equal(redactor.redact(text), text)
  }
})

test('redaction finds a value in another alphabet in escapes of its bytes and its UTF-16 units', () => {
  const value = 'passwört-für-alle'
  const redactor = createRedactor([value])
  const bytes = [...Buffer.from(value)].map((it) => it.toString(16).padStart(2, '0'))
  for (const form of [
    encodeURIComponent(value),
    bytes.map((it) => `=${it.toUpperCase()}`).join(''),
    bytes.map((it) => `\\x${it}`).join(''),
    value.replace(/[^a-z]/g, (it) => `&#${it.codePointAt(0)};`),
    value.replace(/[^a-z]/g, (it) => `\\u00${it.charCodeAt(0).toString(16)}`),
    value.replace(/[öü]/g, (it) => [...Buffer.from(it)].map((byte) => `\\${byte.toString(8)}`).join('')),
  ]) {
    assert.equal(redactor.redact(`>${form}<`), '>***<', form)
    assert.equal(redactor.findings(form).length, 1, form)
  }
})

test('redaction finds an escaped value where another value had begun', () => {
  const redactor = createRedactor(['aaab-1'])
  assert.equal(redactor.redact('%61aa%61b-1.'), '%61***.')
  assert.equal(redactor.redact('aa%61aab%2d1.'), 'aa***.')
})

test('redaction finds each line of a multi-line value, with any line ends', () => {
  const value = 'first line of it\nsecond line\n\n\nlast one'
  const redactor = createRedactor([value])
  assert.equal(redactor.redact(`>${value}<`), '>***<')
  assert.equal(redactor.redact(`>${value.replaceAll('\n', '\r\n')}<`), '>***<')
  assert.equal(redactor.redact('>second line<'), '>***<')
})

test('redaction ignores short values, blanks and asterisks', () => {
  const redactor = createRedactor(['', 'short', '        ', '********', 'a\nb\nc'])
  assert.equal(
    redactor.redact('a short text ******** with        blanks'),
    'a short text ******** with        blanks',
  )
})

test('redaction finds well-known keys without their values', () => {
  const keys = [
    GITHUB,
    `gho_${'x'.repeat(36)}`,
    `ghs_${'Z9'.repeat(18)}`,
    `ghu_${'Z9'.repeat(18)}`,
    `github_pat_${'11AB'.repeat(5)}_${'x1'.repeat(29)}`,
    `sk-ant-api03-${'aB3_-'.repeat(18)}`,
    `sk-${'aB3'.repeat(16)}`,
    `sk-proj-${'aB3'.repeat(12)}_-${'x'.repeat(20)}`,
    `AKIA${'ABCD1234'.repeat(2)}`,
    `xoxb-${'1234567890'}-${'abcdef'.repeat(4)}`,
    `AIza${'Sy_-1'.repeat(7)}`,
    `npm_${'aB3'.repeat(12)}`,
    `glpat-${'aB3-_'.repeat(4)}`,
    `pypi-AgEIcHlwaS5vcmc${'aB3_-'.repeat(12)}`,
    `sk_live_${'aB3'.repeat(8)}`,
    `rk_live_${'aB3'.repeat(8)}`,
    `xapp-1-A0${'1234567890-'.repeat(3)}`,
    `ya29.${'aB3_-'.repeat(8)}`,
    `GOCSPX-${'aB3_'.repeat(7)}`,
    `SG.${'aB'.repeat(11)}.${'x'.repeat(43)}`,
    `dckr_pat_${'aB3'.repeat(9)}`,
    `hf_${'aB'.repeat(16)}34`,
    `shpat_${'0a'.repeat(16)}`,
    `hvs.${'aB3'.repeat(8)}`,
    `AGE-SECRET-KEY-1${'QZ'.repeat(29)}`,
    `sgamp_user_${'01JABCDEFGHKMNPQRSTVWXYZ12'}_${'0a1b'.repeat(16)}`,
    `crsr_${'0a1b'.repeat(16)}`,
    `xai-${'aB3x'.repeat(20)}`,
    `gsk_${'aB3x'.repeat(13)}`,
    WEB_TOKEN,
    pem(''),
    pem('RSA '),
    pem('OPENSSH '),
    pem('ENCRYPTED '),
    pem('').replaceAll('\n', '\\n'),
    pem('').replaceAll('\n', '\r\n'),
  ]
  for (const key of keys) {
    assert.equal(none.redact(`token = "${key}";`), 'token = "***";', key)
    assert.ok(none.finds(`token: ${key}`), key)
  }
})

test('a job token of the new kind is redacted whole, and so is what is left of it when it is cut', () => {
  const header = Buffer.from('{"typ":"JWT","alg":"RS256"}').toString('base64url')
  const claims = Buffer.from(JSON.stringify({ iss: 'https://github.example', nonce: 'aB3'.repeat(70) }))
  const token = `ghs_15368_${header}.${claims.toString('base64url')}.${'aB3_-'.repeat(20)}`
  for (const redactor of [none, createRedactor([token])]) {
    assert.equal(redactor.redact(`token = "${token}".`), 'token = "***".')
    for (const length of [30, 60, 61, 200])
      assert.equal(redactor.redact(`token: ${token.slice(0, length)}`), 'token: ***', `${length}`)
    assert.equal(redactor.redact(`use ${token}.`), 'use ***.', 'the end of a sentence')
    assert.equal(redactor.lines()(`token: ${token.slice(0, 60)}`), 'token: ***')
  }
  // A known token is found in every encoding, also if only its beginning was encoded.
  const cut = Buffer.from(token.slice(0, 60)).toString('base64')
  assert.ok(createRedactor([token]).redact(`Basic ${cut}`).startsWith('Basic ***'))
  assert.deepEqual(none.findings('ghs_15368_the_name_of_a_function ghs_1_eyJ'), [])
})

/** Of so many letters, as a random key has them. */
const letters = (count: number, from = 'aB3xE9cD7fA0bC5qZ1y') => from.repeat(40).slice(0, count)
const hex = (count: number) => letters(count, '0a9b8c7d6e5f4a3b2c1d')

test('redaction finds whole keys of many services by the rules of gitleaks', () => {
  const keys: Record<string, string> = {
    'digitalocean-pat': `dop_v1_${hex(64)}`,
    'doppler-api-token': `dp.pt.${letters(43)}`,
    'dynatrace-api-token': `dt0c01.${letters(24)}.${letters(64)}`,
    'gitlab-deploy-token': `gldt-${letters(20)}`,
    'grafana-cloud-api-token': `glc_${letters(120)}`,
    'grafana-service-account-token': `glsa_${letters(32)}_${hex(8)}`,
    'harness-api-key': `pat.${letters(22)}.${hex(24)}.${letters(20)}`,
    'linear-api-key': `lin_api_${letters(40)}`,
    'npm-access-token': `npm_${letters(36)}`,
    'openshift-user-token': `sha256~${letters(43)}`,
    'planetscale-password': `pscale_pw_${letters(43)}`,
    'postman-api-token': `PMAK-${hex(24)}-${hex(34)}`,
    'pulumi-api-token': `pul-${hex(40)}`,
    'rubygems-api-token': `rubygems_${hex(48)}`,
    'sentry-user-token': `sntryu_${hex(64)}`,
    'shopify-shared-secret': `shpss_${hex(32)}`,
    'sourcegraph-access-token': `sgp_${hex(40)}`,
    'vault-batch-token': `hvb.${letters(140)}`,
  }
  for (const [id, key] of Object.entries(keys)) {
    assert.deepEqual(none.findings(`one\ntoken: ${key}\n`), [{ what: `a key (${id})`, line: 2 }], key)
    for (const end of ['', '"', ',', ' ', '\n', ')', '\\n'])
      assert.equal(none.redact(`token="${key}${end}`), `token="***${end}`)
  }
})

test('a placeholder for a key is not redacted, nor is a word that begins like a key', () => {
  const texts = [
    `glsa_${'x'.repeat(32)}_${'0'.repeat(8)} pplx-${'x'.repeat(48)} dop_v1_${'0'.repeat(64)}`,
    'npm_config_registry pul-request-templates ico-arrow-left-with-a-very-long-name-of-an-icon-in-css',
    'pat.terns.and.more api_org_chart pscale_pw_ sha256~short API-REFERENCE-OF-ALL-THAT-THERE-IS',
    'rubygems_mirror_for_everybody sm_pat_short lin_api_client_factory s-s4t2ud-x v1.0-beta hvb.example.com',
  ]
  for (const text of texts) assert.deepEqual(none.findings(text), [], text)
})

test("no rule's key prefix ends with another rule's prefix, which would hide it", () => {
  const starts = keyStarts(keyShapes).map(({ text }) => text)
  const hidden = starts.filter((text) => starts.some((other) => other !== text && text.endsWith(other)))
  assert.deepEqual(hidden, [])
  assert.equal(new Set(starts).size, starts.length)
})

test('the secret part of a webhook URL is redacted', () => {
  const token = 'aB3dE5gH7jK9mN1pQ3sT5vW7'
  const slack = `T01ABCDEFGH/B01ABCDEFGH/${token}`
  const discord = `1234567890123456789/${`${token}-_`.repeat(3).slice(0, 68)}`
  const cases: [string, string, string][] = [
    ['https://hooks.slack.com/services/', slack, 'a Slack webhook'],
    ['https://hooks.slack-gov.com/services/', slack, 'a Slack webhook'],
    ['hooks.slack.com/workflows/', `T01ABCDEFGH/A01ABCDEFGH/123456789012345678/${token}`, 'a Slack webhook'],
    ['https://hooks.slack.com/triggers/', `E01ABCDEFGH/1234567890123/${'0a1b'.repeat(8)}`, 'a Slack webhook'],
    ['https://discord.com/api/webhooks/', discord, 'a Discord webhook'],
    ['https://canary.discordapp.com/api/v10/webhooks/', discord, 'a Discord webhook'],
  ]
  for (const [start, secret, what] of cases) {
    for (const end of ['', '"', '/slack', '?wait=true', ' ', '\n', ')']) {
      const text = `notify: "${start}${secret}${end}`
      const shown = `notify: "${start}***${end}`
      assert.equal(none.redact(text), shown)
      assert.deepEqual(none.findings(text), [{ what, line: 1 }])
      assert.equal(none.lines()(text), shown)
    }
    const escaped = `"${start}${secret}"`.replaceAll('/', '\\/')
    assert.equal(none.redact(escaped), `"${start.replaceAll('/', '\\/')}***"`)
  }
})

test('redaction finds a key in a very long run of characters', () => {
  const run = `${'x'.repeat(16_380)}${GITHUB}-${'y-'.repeat(9_000)}${WEB_TOKEN}`
  const shown = `${'x'.repeat(16_380)}***-${'y-'.repeat(9_000)}***`
  assert.equal(none.redact(run), shown)
  assert.equal(none.lines()(run), shown)
})

test('redaction hides every line of a private key without a footer', () => {
  const cut = pem('RSA ').split('\n').slice(0, 3).join('\n')
  assert.equal(none.redact(`see ${cut}`), 'see ***\n***\n***')
  assert.equal(
    none.redact(`see ${cut}\nand then prose\n${'x\n'.repeat(9000)}`).slice(0, 40),
    'see ***\n***\n***\nand then prose\nx\nx\nx\nx\nx',
  )
})

test('redaction finds no key in ordinary text', () => {
  const texts = [
    'task-1234567890abcdef1234 disk-abcdefghijklmnopqrstuvwxyz class="sk-folding-cube sk-fading-circle-container"',
    'const npm_config_registry = process.env.npm_config_registry_for_this_test_and_every_other',
    'ghp_short sk-short AKIA AKIAIOS xoxb- eyJhbGciOiJIUzI1NiJ9 AIza',
    'sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=',
    `"integrity": "sha512-${btoa('x'.repeat(64))}"`,
    'the_hf_abstractmethodsofthebaseclassofitall shplit hvs.example.com.and.more.of.it.without.any.number ya29.x',
    'sk_live_key pk_test_1234567890123456789 pypi-publish-action-with-a-long-name GOCSPX-short',
    "if (key.startsWith('-----BEGIN PRIVATE KEY-----')) return 'pkcs8'",
    'sgamp_user_... crsr_your_key_here crsr_pointer DCRSR_OFFSET xai-your-api-key-here gsk_render_node_get_bounds_and_more',
    'the xai-explainable-artificial-intelligence-for-everybody-with-a-long-name gsk_gl_renderer_new',
    'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX https://hooks.slack.com/services/...',
    'https://discord.com/api/webhooks/<id>/<token> https://discord.com/api/webhooks/123456789012345678/your-token',
    'src/services/TEMPLATES/BUILDING/a_file_with_a_long_name.ts /webhooks/1234567890 docs/workflows/TESTING/ABOUT/x',
    '0123456789abcdef0123456789abcdef01234567 this.is.a.long.chain.of.property.accesses.that.goes.on',
  ]
  for (const text of texts) assert.deepEqual(none.findings(text), [], text)
})

test('redaction findings have kind and line, never the value', () => {
  const text = `one\ntwo ${SECRET}\nthree\n${GITHUB}\n${pem('EC ')}\n`
  assert.deepEqual(one.findings(text), [
    { what: 'a known secret value', line: 2 },
    { what: 'a GitHub token', line: 4 },
    { what: 'a private key', line: 5 },
  ])
  assert.equal(one.findings(`${GITHUB}\n`.repeat(2000)).length, 1000)
})

// ---------------------------------------------------------------- properties

const plainValue = fc.string({
  unit: fc.constantFrom(...'abAB01+/ "\\%\n_-.é€'),
  minLength: 1,
  maxLength: 40,
})
const values = fc.array(plainValue, { maxLength: 4 })
/** Each unit as it is, or behind one of the escapes that may stand for it. */
function escapedForm(value: string): fc.Arbitrary<string> {
  const ways = fc.array(fc.nat({ max: 9 }), { minLength: value.length, maxLength: value.length })
  return ways.map((choice) => [...value.split('')].map((unit, at) => escaped(unit, choice[at] ?? 0)).join(''))
}

function escaped(unit: string, way: number): string {
  const code = unit.charCodeAt(0)
  const hex = code.toString(16)
  const byte = hex.padStart(2, '0')
  const isByte = code < 0x80
  if (way === 0 && isByte) return `%${byte}`
  if (way === 1 && isByte) return `%${byte.toUpperCase()}`
  if (way === 2 && isByte) return `=${byte.toUpperCase()}`
  if (way === 3) return `&#${code};`
  if (way === 4) return `&#x${hex.toUpperCase()};`
  if (way === 5) return `\\u${hex.padStart(4, '0')}`
  if (way === 6 && isByte) return `\\x${byte}`
  if (way === 7 && isByte) return `\\${code.toString(8).padStart(3, '0')}`
  return '%\\&='.includes(unit) ? `\\u${hex.padStart(4, '0')}` : unit
}

const piece = (known: string[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...'abAB01+/ "\\%\n_-.é€'), maxLength: 12 }),
    anyText({ maxLength: 6 }),
    fc.constantFrom(
      GITHUB,
      'ghp_',
      WEB_TOKEN,
      'eyJ',
      'sk-',
      'A'.repeat(20),
      '\n\n\n',
      '\r\n',
      pem(''),
      '-----BEGIN ',
    ),
    fc.constantFrom(
      '-----BEGIN RSA PRIVATE KEY-----',
      '-----END RSA PRIVATE KEY-----',
      `${'QUJD'.repeat(8)}\n`,
    ),
    fc.constantFrom(
      '%',
      '%4',
      '%41',
      '&',
      '&#',
      '&#65;',
      '&lt;',
      '\\',
      '\\u0041',
      '\\x',
      '=\n',
      '=\r\n',
      '=',
    ),
    fc.constantFrom('', ...known).chain(escapedForm),
    fc.constantFrom('', ...known).chain((it) => {
      const bytes = new TextEncoder().encode(it)
      return fc.constantFrom(...Object.values(hexForms(bytes)))
    }),
    fc.constantFrom(
      '61 ',
      '62:',
      '0x',
      '6',
      '61-62',
      '  |',
      '\n00000010: ',
      '6162',
      ' '.repeat(30),
      '/services/T',
    ),
    fc.constantFrom(...known, ...known.map((it) => btoa(unescape(encodeURIComponent(it)))), ''),
  )
const texts = values.chain((known) =>
  fc.tuple(
    fc.constant(known),
    fc.array(piece(known), { maxLength: 12 }).map((parts) => parts.join('')),
  ),
)

test('redacted text has no known value', () => {
  fc.assert(
    fc.property(texts, ([known, text]) => {
      const redactor = createRedactor(known)
      const out = redactor.redact(text)
      for (const value of known) {
        if (value.trim().replace(/[\r\n]/g, '').length >= 6) assert.ok(!out.includes(value))
      }
    }),
    runs(80),
  )
})

test('redaction finds a value in any mixture of escapes, and keeps other text', () => {
  const value = fc
    .string({ unit: fc.constantFrom(...'abAB01+/ "\\%&=<>_-.é€'), minLength: 6, maxLength: 30 })
    .filter((it) => it.trim().length >= 6)
    .map((it) => it.trim())
  fc.assert(
    fc.property(
      value.chain((secret) => fc.tuple(fc.constant(secret), escapedForm(secret))),
      ([secret, form]) => {
        const text = `before [${form}] behind`
        assert.equal(createRedactor([secret]).redact(text), 'before [***] behind')
        assert.equal(createRedactor([secret]).findings(text).length, 1)
      },
    ),
    runs(50),
  )
})

test('redaction leaves text without a secret unchanged, also line by line', () => {
  const ordinary = fc
    .array(
      fc.oneof(fc.constantFrom(...'ab01%=&\\;#x\n\r -', '%41', '&lt;', '=\n'), anyText({ maxLength: 4 })),
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(ordinary, (text) => {
      const redactor = createRedactor(['a value that does not stand there'])
      assert.equal(redactor.redact(text), text)
      const line = redactor.lines()
      assert.equal(
        text
          .split('\n')
          .map((it) => line(it))
          .join('\n'),
        text,
      )
    }),
    runs(50),
  )
})

// ---------------------------------------------------------------- line by line

test('redaction hides every line of a private key that arrives line by line', () => {
  const line = none.lines()
  const shown = `it is:\n${pem('RSA ')}\nand then prose that goes on and on\n`.split('\n').map(line)
  assert.deepEqual(shown, [
    'it is:',
    '***',
    '***',
    '***',
    '***',
    '***',
    'and then prose that goes on and on',
    '',
  ])
})

test('redaction hides a private key without a footer as long as its lines look like a key', () => {
  const line = none.lines()
  const text = `${pem('').split('\n').slice(0, 4).join('\n')}\ndone with it\nmain\n${'QUJD'.repeat(16)}`
  assert.deepEqual(text.split('\n').map(line), ['***', '***', '***', '***', 'done with it', 'main', '***'])
})

test("redaction leaves code that only searches for a private key's header", () => {
  const line = none.lines()
  const text = ["x.startsWith('-----BEGIN PRIVATE KEY-----')", 'QUJD'.repeat(16)]
  assert.deepEqual(text.map(line), text)
})

test('redaction hides a value that is cut by line ends from its eighth character on', () => {
  const line = one.lines()
  const lines =
    Buffer.from(SECRET)
      .toString('base64')
      .match(/.{1,19}/g) ?? []
  assert.ok(lines.length > 2)
  assert.deepEqual(
    lines.slice(0, -1).map((it) => line(it)),
    lines.slice(0, -1).map(() => '***'),
  )
  assert.equal(one.lines()(`${SECRET.slice(0, 4)}\n${SECRET.slice(4)}\nand so on`), '***\n***\nand so on')
  assert.equal(one.lines()(`say ${SECRET.slice(0, 7)}`), `say ${SECRET.slice(0, 7)}`)
  assert.equal(one.lines()(`say ${SECRET.slice(0, 8)}`), 'say ***')
})

test('redaction line by line hides as much as that of the whole text, and keeps the number of lines', () => {
  fc.assert(
    fc.property(texts, ([known, text]) => {
      const redactor = createRedactor(known)
      const line = redactor.lines()
      const shown = text.split('\n').map((it) => line(it))
      assert.equal(shown.length, text.split('\n').length)
      const together = redactor.lines()(text).split('\n')
      assert.equal(together.length, shown.length)
      for (const value of known) {
        const plain = value.trim()
        if (plain.length < 6 || /[\r\n]/.test(plain)) continue
        for (const it of [...shown, ...together]) assert.ok(!it.includes(plain))
      }
    }),
    runs(80),
  )
})

test('redaction finds every base64 of a text that has the value', () => {
  const value = fc
    .uint8Array({ minLength: 6, maxLength: 40 })
    .map((it) => Buffer.from(it).toString('latin1').replace(/[\s*]/g, 'x'))
  fc.assert(
    fc.property(value, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (secret, before, after) => {
      const redactor = createRedactor([secret])
      const bytes = Buffer.from(before + secret + after)
      assert.ok(redactor.finds(bytes.toString('base64')))
      assert.ok(redactor.finds(bytes.toString('base64url')))
      assert.ok(redactor.finds(`{"x":${JSON.stringify(before + secret + after)}}`))
      assert.ok(redactor.finds(new Uint8Array(bytes)))
    }),
    runs(60),
  )
})

// ---------------------------------------------------------------- time

/** Of processor time, so that a busy machine fails no test. */
function seconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

test('the time of redaction grows with the length of the text and no faster, also of hostile text', () => {
  const known = Array.from({ length: 10 }, (_, index) => `value-${index}-${'s3cr3t'.repeat(12)}`)
  const redactor = createRedactor([...known, 'a'.repeat(4_000), `${'ab'.repeat(500)}c`])
  const size = 2_500_000
  const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
  const cases: Record<string, string> = {
    code: fill('export function redact(text: string): string { return text.replace(/x/g, "y") } // done\n'),
    'nearly a value': fill('value-1-s3cr3ts3cr3ts3cr3t_'),
    'a long value again and again': fill('a'),
    'nearly a long value': fill(`${'ab'.repeat(499)} `),
    'web tokens': fill('eyJhbGciOiJI'),
    'dotted web tokens': fill('eyJhbGciOiJIUzI1NiJ9.'),
    'token starts': fill('ghp_sk-xoxb-AIzanpm_glpat-AKIA'),
    'starts of every kind': fill(
      KEY_RULES.map(([, starts]) => `${starts.replaceAll(' ', '')}aB3dE5`).join(''),
    ),
    'nearly keys': fill(
      KEY_RULES.map(([, starts]) => `${starts} ${starts.split(' ')[0]}${'aB3'.repeat(6)}! `).join(''),
    ),
    headers: fill('-----BEGIN RSA PRIVATE KEY-----\n'),
    dashes: fill('-'),
    breaks: fill('value-\n\n\n'),
    keys: fill(`${GITHUB} `),
    escapes: fill('%76alue-1-%73%33cr3t'),
    'a long value behind escapes': fill('%61'),
    'nearly a long value behind escapes': fill(`${'a%62'.repeat(499)} `),
    'starts of escapes': fill('%\\&='),
    'a long value in hex': fill('61 '),
    'nearly a long value in hex': fill(`${'61:62:'.repeat(499)}2e,`),
    'hex of other things': fill('de ad be ef 73 33 '),
    'hex in one run': fill('61-62-'),
    'hex and zeros': fill('61 00 00 00 '),
    'a dump': fill(`00000010: ${'6161 '.repeat(8)} aaaaaaaaaaaaaaaa\n`),
    'numbers with dashes': fill('123e4567-e89b-12d3-a456-426614174000 '),
    'starts of webhooks': fill('/services/T0123456/B0123456'),
  }
  for (const [name, text] of Object.entries(cases)) {
    const quickest = (part: string) => Math.min(...[1, 2].map(() => seconds(() => redactor.redact(part))))
    const [quarter, whole] = [quickest(text.slice(0, size / 4)), quickest(text)]
    console.log(`# ${name}: ${whole.toFixed(2)} s, a quarter of it ${quarter.toFixed(2)} s`)
    // Four times the text takes four times as long, and sixteen times if the time is quadratic. How fast the machine is does not matter.
    assert.ok(
      whole < 9 * Math.max(quarter, 0.02),
      `${name}: ${whole} s of processor time, ${quarter} s for a quarter`,
    )
  }
})
