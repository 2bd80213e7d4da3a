// One table of commands: what a comment can do, the CLI can do, and each text names what its surface has.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { CLI_COMMANDS, HELP_GROUPS } from '../../../src/cli/command-flags.ts'
import { commandsOn, parseCommand, parseSlash } from '../../../src/engine/commands/command-table.ts'
import { flagTable } from '../../../src/settings/read-settings.ts'
import { bad, FOLDER, GATE, good, openPlace } from './place.ts'

const IDS = ['US-001', 'US-002']

test('every comment command exists in the CLI, and every listed command can be typed', () => {
  const here = commandsOn('cli').map(({ name }) => name)
  for (const { name, example } of commandsOn('comment')) {
    assert.ok(here.includes(name), name)
    const { kind } = parseSlash(example, IDS)
    assert.notEqual(kind, 'mistake', example)
    assert.notEqual(kind, 'none', example)
  }
  assert.deepEqual(
    here.filter((name) => name !== 'help'),
    Object.keys(CLI_COMMANDS),
  )
})

test('a command mistake is worded for its surface, the CLI or a comment', () => {
  const nothing = { words: [], text: '', below: [] }
  for (const name of ['retry', 'note', 'add', 'limit', 'retyr', 'split']) {
    const [here, there] = (['cli', 'comment'] as const).map((surface) =>
      parseCommand(name, nothing, IDS, surface),
    )
    assert.ok(here?.kind === 'mistake' && there?.kind === 'mistake')
    assert.match(here.fix, /^ralph /)
    assert.equal(there.fix, `/${here.fix}`)
  }
  const unknown = parseCommand('nxet', nothing, IDS, 'comment')
  assert.ok(unknown.kind === 'mistake' && unknown.fix !== '/ralph next', 'comments have no next')
})

test('help of every command has its arguments, an example, exit codes and only its own flags', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const whole = await place.ralph('--help')
  for (const { name, example } of commandsOn('cli')) {
    assert.match(whole.out, new RegExp(`^  ${name}\\b`, 'm'))
    if (name === 'help') continue
    const { out, code } = await place.ralph(name, '--help')
    assert.equal(code, 0)
    assert.ok(out.includes(`Example:\n  ${example}\n`), out)
    for (const [flag] of example.matchAll(/ --[a-z-]+/g))
      assert.match(out, new RegExp(`^ +(?:-\\w,)?${flag}\\b`, 'm'), example)
    for (const [exit, meaning] of CLI_COMMANDS[name].exits)
      assert.match(out, new RegExp(`^ +${exit}  ${meaning.replaceAll(/[()]/g, '.')}$`, 'm'))
    const own = CLI_COMMANDS[name].options.map(([flags]) => flags.split(' ')[0])
    for (const flag of flagTable())
      if (!CLI_COMMANDS[name].settings(flag) && !own.includes(flag.flag))
        assert.doesNotMatch(out, new RegExp(` ${flag.flag} `))
  }
  const retry = (await place.ralph('retry', '--help')).out
  assert.doesNotMatch(retry, /--max-cost-usd|--gate /)
  assert.match((await place.ralph('run', '--help')).out, /^Settings \(limits\):\n(.*\n)* +--max-cost-usd/m)
})

test('help lists five commands first, and every other one in a group', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { out } = await place.ralph('help')
  const names = [...out.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)
  assert.match(out, /\nStart here:\n {2}init\b/)
  assert.deepEqual(names.slice(names.indexOf('init')).slice(0, 5), ['init', 'plan', 'run', 'status', 'why'])
  const grouped = HELP_GROUPS.flatMap(([, all]) => all)
  assert.deepEqual(grouped.toSorted(), Object.keys(CLI_COMMANDS).sort())
  assert.doesNotMatch(out, /^Commands:$/m)
})

test('an unknown command is refused with where the commands are listed', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { code, err } = await place.ralph('sample')
  assert.equal(code, 64)
  assert.match(
    err,
    /^error: command line: there is no command 'sample'\.\n {2}fix: ralph help lists the commands/,
  )
  assert.match(err, /ralph run <feature>/)
})

test('an option that is cut short is completed in the message', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { err } = await place.ralph('run', '--max-cost', '5')
  assert.match(err, /unknown option '--max-cost'\.\n {2}fix: did you mean --max-cost-usd\? write it as/)
})

test("a mistyped option is refused with the nearest one and the command's usage", async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { code, out, err } = await place.ralph('run', '--dry-rn')
  assert.deepEqual([code, out], [64, ''])
  const found = "unknown option '--dry-rn'."
  const fix = 'did you mean --dry-run? write it as ralph run [options] [feature]; ralph help run explains it'
  assert.equal(err, `error: command line: ${found}\n  fix: ${fix}\n`)
  assert.deepEqual((await place.json('run', '--dry-rn')).errors, [
    { path: 'command line', found, expected: '', fix },
  ])
  const first = await place.ralph('-C', '.', 'status')
  assert.match(
    first.err,
    /unknown option '-C'\.\n {2}fix: write it as ralph status .*; ralph help status explains it/,
  )
  assert.match(
    (await place.ralph('--jsn')).err,
    /\n {2}fix: write it as ralph <command> \[options\]; ralph help explains it\n/,
  )
})

test('ralph without a command prints the list, and help of an unknown command is refused', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const bare = await place.ralph()
  assert.deepEqual([bare.code, bare.err], [0, ''])
  assert.match(bare.out, /^Usage: ralph /)
  const wrong = await place.ralph('help', 'rnu')
  assert.deepEqual([wrong.code, wrong.out], [64, ''])
  assert.match(
    wrong.err,
    /there is no command 'rnu'\.\n {2}fix: did you mean run\? ralph help lists the commands\. To work on a feature/,
  )
  assert.match((await place.ralph('help', 'statsu')).err, /\n {2}fix: did you mean status\? ralph help/)
  assert.equal((await place.ralph('help', '--help')).out, (await place.ralph('help')).out)
  assert.match((await place.ralph('help', 'resume')).out, /^Usage: ralph run\|resume /)
  const wide = bare.out.split('\n').filter((line) => line.length > 80)
  assert.deepEqual(wide, [])
})

test('retry all without a blocked story is refused', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { code, err } = await place.ralph('retry', 'all')
  assert.deepEqual([code, err], [64, 'error: ralph retry: no story is blocked\n  fix: see ralph status\n'])
})

test('-C with a folder that does not exist is refused', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { code, err } = await place.ralph('status', '-C', '/nowhere/at/all')
  assert.equal(code, 64)
  assert.equal(err, 'error: /nowhere/at/all: there is no such folder.\n  fix: check the path\n')
})

test("an unknown story is one error line, and add prints the new story's id", async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [bad('US-001')] })
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  const wrong = await place.ralph('retry', 'US-009')
  assert.equal(
    wrong.err,
    'error: ralph retry: there is no story US-009. The only story is US-001\n  fix: ralph status\n',
  )
  assert.match((await place.ralph('add', '--', 'part two')).out, /^added: US-002$/m)
  assert.match(
    (await place.ralph('run', ...place.agent, ...GATE, '--once')).out,
    /the batch of 1 iteration is done/,
  )
})

test('add takes acceptance criteria', async () => {
  await using place = await openPlace([{ id: 'US-001', passes: true }])
  const flags = [
    '--description',
    'Everywhere.',
    '--criterion',
    'the session ends',
    '--criterion',
    'so does the cookie',
  ]
  const added = await place.ralph('add', ...flags, '--', 'Sign out')
  assert.equal(added.code, 0, added.err)
  const { stories } = await place.json('status')
  assert.ok(Array.isArray(stories))
  assert.deepEqual(
    stories.map(({ id, title }: { id: string; title: string }) => [id, title]),
    [
      ['US-001', 'part US-001'],
      ['US-002', 'Sign out'],
    ],
  )
  await place.setScript({ 'US-002': [good('US-002')] })
  assert.equal((await place.ralph('run', ...place.agent, ...GATE)).code, 0)
  const prd = JSON.parse(await readFile(join(place.repository, FOLDER, 'prd.json'), 'utf8'))
  assert.deepEqual(
    prd.userStories
      .slice(1)
      .map((story: Record<string, unknown>) => [story.description, story.acceptanceCriteria]),
    [['Everywhere.', ['the session ends', 'so does the cookie']]],
  )
})

test('commands that cannot be done are refused, with what to type instead', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  const cases: [string[], RegExp, RegExp][] = [
    [
      ['note', 'US-999', '--', 'x'],
      /no story US-999/,
      /The stories are US-001 and US-002\n {2}fix: ralph status$/m,
    ],
    [['retry', 'login'], /no story login\. The stories are US-001 and US-002$/m, /fix: ralph status$/m],
    [['note', 'US-002', 'US-0O1', 'x'], /no story US-0O1/, /fix: ralph note US-001$/m],
    [['add', 'Sign out'], /needs a title/, /fix: ralph add -- Sign out$/m],
    [
      ['add', 'Sign', '--', 'out'],
      /title of a new story comes after --, and no other word may come before --/,
      /fix: ralph add -- Sign out$/m,
    ],
    [
      ['status', 'a', '--feature', 'b'],
      /two features are named: a and --feature b\.$/m,
      /fix: name only one: ralph status a, or ralph status b$/m,
    ],
    [
      ['plan', 'a', '--feature', 'b'],
      /two features are named: a and --feature b/,
      /fix: name only one: ralph plan a/,
    ],
    [['pause', 'US-001'], /there is no feature US-001 here\.$/m, /fix: use one of: ralph pause sample/],
    [
      ['log', 'US-001', 'US-002'],
      /shows one story, but several are named: US-001 US-002\.$/m,
      /fix: ralph log US-001$/m,
    ],
    [['limit', 'iterations', '20'], /say what to raise/, /fix: ralph limit iterations \+20$/m],
  ]
  for (const [args, found, fix] of cases) {
    const { code, err } = await place.ralph(...args)
    assert.equal(code, 64, args.join(' '))
    assert.match(err, found)
    assert.match(err, fix)
  }
  assert.equal((await place.ralph('note', 'us-2', 'use', 'the', 'mailer')).code, 0)
})

test('commands that would change nothing are refused, and those with a later effect say so', async () => {
  const done = { id: 'US-001', passes: true }
  await using place = await openPlace([done, { id: 'US-002', skipped: true }, { id: 'US-003' }])
  await place.setScript({ 'US-003': [bad('US-003')] })
  assert.equal((await place.ralph('run', ...place.agent, ...GATE, '--max-attempts', '1')).code, 1)
  for (const [args, found] of [
    [['skip', 'US-001'], /US-001 passed. To work on it again, use redo\n/],
    [['retry', 'US-001', 'US-002'], /US-001 passed, US-002 was skipped. To work on it again, use redo\n/],
  ] as const) {
    const { code, err } = await place.ralph(...args)
    assert.equal(code, 64, args.join(' '))
    assert.match(err, found)
  }
  assert.match(
    (await place.ralph('archive')).out,
    /^noted: when the next run ends, .* into done\.json\nNext: /,
  )
})

test('limit raises a limit, and the next run goes on', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  const run = ['run', ...place.agent, ...GATE, '--max-iterations', '1']
  assert.equal((await place.ralph(...run)).code, 2)
  const limit = await place.ralph('limit', 'iterations', '+1')
  assert.equal(limit.code, 0, limit.err)
  assert.equal((await place.ralph(...run)).code, 0)
})

test('stop ends the session in work uncharged, and pauses the feature', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [{ hang: true }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('hanging') && resolve())
  })
  const stopped = await place.ralph('stop')
  assert.equal(stopped.code, 0, stopped.err)
  assert.equal((await run.ended).code, 130)
  assert.equal((await place.json('status')).iterations, 0)
  await place.setScript({ 'US-001': [good('US-001')] })
  assert.equal((await place.ralph('run', ...place.agent, ...GATE)).code, 0)
})

test('verify runs the gates and a judge on the checkout, and changes nothing', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [good('US-001')] })
  const settings = [...place.agent, ...GATE]
  assert.equal((await place.ralph('run', ...settings)).code, 0)
  const before = place.refs()
  const fine = await place.ralph('verify', ...settings)
  assert.equal(fine.code, 0, fine.err)
  assert.match(fine.out, /VERIFIED: every criterion of 1 story is met/)
  assert.match(fine.out, /does not count against the budget of sample/)
  assert.match(fine.out, /^ralph\/sample: 1\/1 stories, iteration 1\/50, \$0\.02$/m, 'what the run has cost')
  await place.setScript({ verify: [{ say: '<ralph>RESET:US-001</ralph><ralph>REASON:it lies</ralph>' }] })
  const refused = await place.json('verify', ...settings)
  assert.deepEqual(refused.verdict, { kind: 'reset', stories: ['US-001'], reason: 'it lies' })
  const told = await place.ralph('verify', ...settings)
  assert.deepEqual([told.code, /NOT VERIFIED: US-001: it lies/.test(told.out)], [1, true], told.out)
  assert.equal(place.refs(), before)
  await place.write({ 'src/US-001.txt': 'bad\n' })
  const dirty = await place.ralph('verify', ...settings)
  assert.equal(dirty.code, 64)
  assert.match(dirty.err, /uncommitted changes: src\/US-001\.txt/)
  place.git('commit', '-qam', 'by hand')
  const red = await place.ralph('verify', ...settings)
  assert.deepEqual([red.code, /NOT VERIFIED: gate good fails/.test(red.out)], [1, true], red.out)
  place.git('switch', '-q', 'main')
  const elsewhere = await place.ralph('verify', ...settings)
  assert.equal(elsewhere.code, 64)
  assert.match(elsewhere.err, /git switch ralph\/sample/)
  assert.match(place.refs().replace(/^refs\/heads\/.*\n?/gm, ''), /^refs\/ralph\/2026-01-31-sample \w+$/)
})

test('verify of a feature without a passed story is not a success', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [bad('US-001')] })
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  const { code, out } = await place.ralph('verify', ...place.agent, ...GATE, '--json')
  const told = JSON.parse(out)
  assert.deepEqual([code, told.verified, told.verdict.kind], [1, false, 'none'])
})

test('verify does not touch the work tree of a run in work', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [{ ...bad('US-001'), hang: true }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('hanging') && resolve())
  })
  const { code, err } = await place.ralph('verify', ...place.agent, ...GATE)
  assert.equal(code, 64)
  assert.match(err, /works on sample.*\n.*ralph stop/)
  assert.equal(await readFile(join(place.repository, 'src/US-001.txt'), 'utf8'), 'bad US-001\n')
})

test('with two features every command prints how to name one, ready to type', async () => {
  const other = JSON.stringify({ userStories: [{ id: 'US-001', title: 'a', acceptanceCriteria: ['b'] }] })
  await using place = await openPlace([{ id: 'US-001' }], { '.ralph/2026-01-31-other/prd.json': other })
  const fix = async (...words: string[]) =>
    / {2}fix: name one: (.*)$/m.exec((await place.ralph(...words)).err)?.[1]
  assert.equal(await fix('pause'), 'ralph pause other, ralph pause sample')
  assert.equal(await fix('skip', 'US-001'), 'ralph skip --feature other ..., ralph skip --feature sample ...')
  assert.equal((await place.ralph('pause', 'other')).code, 0)
})
