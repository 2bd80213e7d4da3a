// `validate`, `next` and `run --dry-run` refuse what `run` refuses, in the same words, and touch nothing.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FOLDER, GATE, good, openPlace, type Place } from '../unit/cli/place.ts'

const STORY = { id: 'US-001', title: 'one', acceptanceCriteria: ['it works'] }
const ASKED = [['run'], ['run', '--dry-run'], ['next'], ['validate']]

type Case = { files?: Record<string, string>; flags?: (place: Place) => string[]; says: RegExp }

const named = (branchName: string) => ({
  [`${FOLDER}/prd.json`]: JSON.stringify({ schemaVersion: 2, branchName, userStories: [STORY] }),
})

const steps = (text: string) => ({ 'ralph.config.yml': `steps: ${text}\n` })

const CASES: Record<string, Case> = {
  'signed commits': {
    files: { 'ralph.config.yml': 'signCommits: always\n' },
    says: /ralph\.config\.yml: signCommits: found "always".*\n {2}fix: write one of these/,
  },
  'the base as branchName': {
    files: named('main'),
    says: /sample\/prd\.json: branchName: Ralph cannot work on main, because other people share this branch\./,
  },
  "somebody else's branch as branchName": {
    files: named('feature/old'),
    says: /branchName: the branch feature\/old already exists/,
  },
  'an agent whose program is missing': {
    flags: () => [...GATE, '--agent', 'amp'],
    says: /agent: amp is not on your PATH\.\n {2}fix: /,
  },
  'a fallback agent whose program is missing': {
    flags: (place) => [...place.agent, ...GATE, '--fallback-agent', 'amp'],
    says: /fallback-agent: amp is not on your PATH/,
  },
  'an agent of a step whose program is missing': {
    files: steps('[{ name: a, type: agent }, { name: b, type: agent, config: { agent: amp } }]'),
    flags: (place) => [...place.agent, ...GATE],
    says: /steps: amp is not on your PATH\./,
  },
  'a step prompt that does not exist, and one with an unknown variable': {
    files: steps(
      '[{ name: a, type: agent, config: { prompt_file: .ralph/prompts/mine.md } }, { name: b, type: agent, config: { prompt: "{{#if stroyId}}x{{/if}}" } }]',
    ),
    flags: (place) => [...place.agent, ...GATE],
    says: /steps: a step names the prompt \.ralph\/prompts\/mine\.md, which is not on the branch[\s\S]*prompt of step b:1: [\s\S]*stroyId/,
  },
  'a pipeline without an agent': {
    files: steps('[{ name: a, type: noop }]'),
    flags: (place) => [...place.agent, ...GATE],
    says: /ralph\.config\.yml: steps: no enabled step has type: agent/,
  },
  'a pipeline that does not exist': {
    files: steps('{ quick: [{ name: a, type: agent }] }'),
    flags: (place) => [...place.agent, ...GATE, '--pipeline', 'quik'],
    says: /--pipeline: there is no pipeline "quik"\.\n {2}fix: write quick, or commit \.ralph\/configs\/quik\.json/,
  },
  'a working directory that does not exist': {
    flags: (place) => [...place.agent, ...GATE, '--working-directory', 'packages/app'],
    says: /working-directory: this repository has no folder packages\/app\./,
  },
  'a file as working directory': {
    flags: (place) => [...place.agent, ...GATE, '--working-directory', 'src/base.txt'],
    says: /working-directory: this repository has no folder src\/base\.txt\./,
  },
  'no gate': {
    flags: (place) => [...place.agent],
    says: /gates: there are no gates: a story would pass as soon as the agent says that it is done\./,
  },
  'a story that does not exist': {
    flags: (place) => [...place.agent, ...GATE, '--stories', 'US-011', '--epic', 'a'],
    says: /stories: found "US-011", .*\n {2}fix: use US-001\n[\s\S]*epic: found "a"/,
  },
  'two features': {
    files: { '.ralph/2026-02-01-other/prd.json': JSON.stringify({ userStories: [STORY] }) },
    says: /fix: name one: ralph (run|next|validate) other, ralph \1 sample\n/,
  },
}

for (const [name, { files, flags, says }] of Object.entries(CASES)) {
  test(`every command refuses ${name}`, async () => {
    await using place = await openPlace([STORY], files)
    place.git('branch', 'feature/old')
    const before = place.refs()
    const given = flags === undefined ? [...place.agent, ...GATE] : flags(place)
    for (const asked of ASKED) {
      const { code, err } = await place.ralph(...asked, ...given)
      assert.equal(code, 64, `${asked.join(' ')}: ${err}`)
      assert.match(err, says, asked.join(' '))
    }
    // Of several features doctor looks at each.
    if (name !== 'two features') {
      const { code, out } = await place.ralph('doctor', '--no-gates', ...given)
      assert.notEqual(code, 0, `what a run refuses is a fault: ${out}`)
    }
    assert.equal(place.refs(), before)
    assert.equal(place.git('status', '--porcelain'), '')
  })
}

test('doctor reports a branch that another work tree has checked out', async () => {
  await using place = await openPlace([STORY])
  place.git('worktree', 'add', '-q', join(place.folder, 'other'), '-b', 'ralph/sample')
  const { findings } = await place.json('doctor', '--no-gates', ...place.agent, ...GATE)
  assert.ok(Array.isArray(findings))
  const found = findings.find(({ name }: { name: string }) => name === 'work tree')
  assert.match(
    `${found.state}: ${found.found}`,
    /^fault: the branch ralph\/sample is checked out in another work tree, .*other\.?$/,
  )
})

test('validate reports every mistake at once', async () => {
  await using place = await openPlace([STORY], named('main'))
  const { errors } = await place.json('validate', '--agent', 'amp', '--working-directory', 'nowhere')
  assert.ok(Array.isArray(errors))
  assert.deepEqual(
    errors.map(({ path }: { path: string }) => path),
    [`${FOLDER}/prd.json: branchName`, 'working-directory', 'agent', 'gates'],
  )
})

test('the dry run refuses a dirty tree and a feature that is in work', async () => {
  await using place = await openPlace([STORY])
  await place.write({ 'src/base.txt': 'mine\n' })
  for (const dry of [[], ['--dry-run']]) {
    const { code, err } = await place.ralph('run', ...dry, ...place.agent, ...GATE)
    assert.deepEqual([code, /uncommitted changes: src\/base\.txt/.test(err)], [64, true], err)
  }
  place.git('checkout', '-q', '.')
  await place.setScript({ 'US-001': [{ hang: true }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('hanging') && resolve())
  })
  const { code, err } = await place.ralph('run', '--dry-run', ...place.agent, ...GATE)
  assert.equal(code, 64)
  assert.match(
    err,
    /process \d+ on .* works on sample.*\n {2}fix: wait until that run ends, or end it with `ralph stop`/,
  )
})

test('validate prints the gates, the path of prd.json, and which configuration file counts', async () => {
  await using place = await openPlace([], {
    'ralph.config.yml': 'gates:\n  test: npm test\n  e2e: { run: npm run e2e, when: ui, advisory: true }\n',
    'ralph.config.json': '{}',
  })
  place.git('rm', '-rq', '.ralph')
  await place.write({ 'prd.json': JSON.stringify({ branchName: 'ralph/shop', userStories: [STORY] }) })
  place.git('add', '-A')
  place.git('commit', '-qm', 'a prd.json at the top')
  const { code, out, err } = await place.ralph('validate', ...place.agent)
  assert.equal(code, 0, err)
  assert.match(out, /^gates: test, e2e \(when ui, advisory\)$/m)
  assert.match(out, /^prd\.json: 1 story, fine$/m)
  assert.match(out, /^warning: ralph\.config\.json is ignored, because Ralph reads ralph\.config\.yml$/m)
})

test('validate, next and the dry run accept an agent that is on the PATH', async () => {
  await using place = await openPlace([STORY])
  const bin = join(place.folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'amp'), '#!/bin/sh\necho 1.0.0\n')
  await chmod(join(bin, 'amp'), 0o755)
  place.env.PATH = `${bin}:${place.env.PATH}`
  for (const asked of [['validate'], ['next'], ['run', '--dry-run']])
    assert.equal((await place.ralph(...asked, '--agent', 'amp', ...GATE)).code, 0, asked.join(' '))
})

test('every command refuses a branch that another work tree has checked out, until it is free', async () => {
  await using place = await openPlace([STORY])
  const other = join(place.folder, 'other')
  place.git('worktree', 'add', '-q', other, '-b', 'feat')
  execFileSync('git', ['switch', '-q', '-c', 'ralph/sample'], { cwd: other, env: place.env })
  const before = place.refs()
  const given = [...place.agent, ...GATE]
  const ended = (from: string, asked: string[]) => place.start([...asked, ...given], { cwd: from }).ended
  for (const asked of ASKED) {
    const { code, err } = await ended(place.repository, asked)
    assert.equal(code, 64, `${asked.join(' ')}: ${err}`)
    const words = `work tree: the branch ralph/sample is checked out in another work tree, ${other}.\n  fix: run Ralph in that work tree, or switch that work tree to another branch\n`
    assert.ok(err.includes(words), err)
  }
  assert.equal(place.refs(), before)
  assert.equal(place.git('branch', '--show-current'), 'main')
  execFileSync('git', ['switch', '-q', 'feat'], { cwd: other, env: place.env })
  place.git('switch', '-q', 'ralph/sample')
  const there = await ended(other, ['next'])
  assert.match(
    there.err,
    new RegExp(`checked out in another work tree, ${place.repository}\\.`),
    'the main work tree counts, too',
  )
  place.git('switch', '-q', 'main')
  execFileSync('git', ['switch', '-q', 'ralph/sample'], { cwd: other, env: place.env })
  await rm(other, { recursive: true })
  assert.doesNotMatch((await ended(place.repository, ['next'])).err, /checked out/, 'its folder is gone')
})

test('a complete feature and one in work are reported from any work tree, wherever its branch is checked out', async () => {
  await using place = await openPlace([STORY])
  await place.setScript({ 'US-001': [good('US-001')] })
  const given = [...place.agent, ...GATE, '--no-final-verification']
  assert.equal((await place.ralph('run', ...given)).code, 0)
  const other = join(place.folder, 'other')
  place.git('worktree', 'add', '-q', other, 'main')
  const before = place.refs()
  for (const asked of [['validate'], ['run', '--dry-run'], ['run']]) {
    const { code, out, err } = await place.start([...asked, ...given], { cwd: other }).ended
    assert.equal(code, 0, `${asked.join(' ')}: ${err}`)
    if (asked[0] === 'run') assert.match(out, /complete|nothing is left to do: every story passed its gates/i)
  }
  assert.equal(place.refs(), before)
  assert.match(
    (await place.start(['run', '--force', ...given], { cwd: other }).ended).err,
    /is checked out in/,
  )

  await place.ralph('redo', 'US-001')
  await place.setScript({ 'US-001': [{ hang: true }] })
  const run = place.start(['run', ...given])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('hanging') && resolve())
  })
  assert.equal((await place.start(['validate', ...given], { cwd: other }).ended).code, 0)
  assert.match(
    (await place.start(['run', ...given], { cwd: other }).ended).err,
    /feature: .* works on sample\.\n {2}fix: wait until that run ends/,
  )
  await place.ralph('stop')
  await run.ended
})

test('a run is refused in a checkout where a run of another feature works', async () => {
  const second = { ...STORY, title: 'more', acceptanceCriteria: ['it works'] }
  await using place = await openPlace([STORY], {
    '.ralph/2026-02-01-second/prd.json': JSON.stringify({ schemaVersion: 2, userStories: [second] }),
  })
  await place.setScript({ 'US-001': [{ hang: true }] })
  const given = [...place.agent, ...GATE, '--no-final-verification']
  const run = place.start(['run', 'sample', ...given])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('hanging') && resolve())
  })
  for (const asked of [
    ['run', 'second'],
    ['verify', 'second'],
  ]) {
    const { code, err } = await place.ralph(...asked, ...given)
    assert.equal(code, 64, err)
    assert.match(err, /work tree: .* works on sample in this work tree\.\n {2}fix: /)
  }
  await place.ralph('stop', '--feature', 'sample')
  await run.ended
  assert.equal(place.git('branch', '--list', 'ralph/second'), '')
})

test("on the feature's branch, a configuration that differs from the base branch's is reported once", async () => {
  const file = 'ralph.config.yml'
  const old = 'gates:\n  good: "! grep -rq bad src"\n'
  await using place = await openPlace([STORY], { [file]: old })
  await place.setScript({ 'US-001': [{ files: { 'src/US-001.txt': 'good\n' } }] })
  const asked = [['validate'], ['status'], ['run', '--dry-run'], ['run']]
  const told = async (words: string[]) => {
    const { out, err } = await place.ralph(...words, ...(words[0] === 'status' ? [] : place.agent))
    return (out + err).split('\n').filter((line) => line.includes(`${file} differs `))
  }
  assert.deepEqual(await told(['run']), [])
  assert.equal(place.git('branch', '--show-current'), 'ralph/sample')
  for (const words of asked.slice(0, 3)) assert.deepEqual(await told(words), [], `the same: ${words}`)
  place.git('switch', '-q', 'main')
  await place.write({ [file]: `${old}maxAttempts: 1\n` })
  place.git('commit', '-qam', 'a limit')
  for (const words of asked.slice(0, 3)) assert.deepEqual(await told(words), [], `on main: ${words}`)
  place.git('switch', '-q', 'ralph/sample')
  const warning =
    'ralph.config.yml differs between main and ralph/sample, and this run uses the file on ralph/sample. To use the file on main, merge main or switch to it'
  for (const words of asked) {
    const lines = await told(words)
    assert.equal(lines.length, 1, `${words}: ${lines}`)
    assert.ok(lines[0]?.includes(warning), lines[0])
  }
})

test('validate and doctor report a gate and a browser check that no story has a tag for, and a tag that was inferred', async () => {
  await using place = await openPlace([{ ...STORY, tags: [] }])
  const seen = { id: 'US-002', title: 'two', acceptanceCriteria: ['Verify in browser'] }
  await place.write({
    'ralph.config.yml': 'gates:\n  test: "true"\n  e2e: { run: "true", when: [e2e] }\n',
    [`${FOLDER}/prd.json`]: JSON.stringify({ userStories: [STORY, seen] }),
  })
  const rest =
    'gate e2e is for stories with the tag e2e, but no story has this tag: it runs only in the final verification'
  const { warnings } = await place.json('validate', ...place.agent)
  assert.ok(Array.isArray(warnings))
  assert.ok(warnings.includes(rest), JSON.stringify(warnings))
  assert.ok(
    warnings.some((one) => /US-002: tag ui, from 'Verify in browser'$/.test(String(one))),
    JSON.stringify(warnings),
  )
  const { out } = await place.ralph('doctor', ...place.agent)
  assert.ok(out.replace(/\s+/g, ' ').includes(rest), out)
})
