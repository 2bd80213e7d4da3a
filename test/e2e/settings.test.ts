// What ralph.config.yml says to the action: where runs start from, which workflow goes on, and who may change it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { annotationsOf, goodTurn, openSite, outputsOf, RUN_TESTS, story } from './site.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two')]
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }
const QUICK = { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false' }

test('baseBranch and workflow in the configuration on the default branch have the effect of the inputs', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs: QUICK })
  const { github, runner } = site
  // The settings are those of the base: it is where the workflow is named.
  await github.commit('develop', {
    'src/dev.mjs': 'export {}\n',
    'ralph.config.yml': 'workflow: worker.yml\niterationsPerJob: 1\n',
  })
  const file = '.github/workflows/ralph.yml'
  const text = (await github.read('main', file))?.replace(/ +iterations-per-job: .*\n/, '') ?? ''
  await github.commit('main', {
    'ralph.config.yml': 'baseBranch: develop\nmaxAttempts: 1\n',
    [file]: text,
    '.github/workflows/worker.yml': text,
  })
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.deepEqual(
    runner.runs.map((run) => run.workflow),
    ['.github/workflows/ralph.yml', '.github/workflows/worker.yml'],
    site.log(),
  )
  const { base } = await site.state()
  assert.deepEqual(base, { branch: 'develop', sha: await github.head('develop') })
  assert.equal((await site.pull()).base.ref, 'develop')
  assert.notEqual(await github.read('ralph/sample', 'src/dev.mjs'), null)
})

test('a baseBranch in the configuration that does not exist is refused, naming the setting', async () => {
  const files = { 'ralph.config.yml': 'baseBranch: develop\n' }
  await using site = await openSite({ stories: STORIES, script: SCRIPT, files })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'error')
  assert.match(
    annotationsOf(run, 'error').join('\n'),
    /baseBranch in the configuration on main: this repository has no branch develop/,
  )
})

test('a comment while the configuration is invalid: a warning says which refs Ralph looks at instead', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs: QUICK })
  await site.go()
  await site.github.commit('main', { 'ralph.config.yml': 'maxAttemps: 2\n' })
  await site.say('alice', '/ralph status')
  assert.match(
    annotationsOf(site.last(), 'warning').join('\n'),
    /Ralph could not read the configuration, .*ralph\/ .*refs\/ralph: ralph\.config\.yml: maxAttemps/,
  )
})

test('an agent that changes the configuration at the path of config-file is refused', async () => {
  const path = 'ci/ralph-settings.yml'
  const files = { [path]: 'maxAttempts: 1\n' }
  const turn = { files: { ...goodTurn('one', 1).files, [path]: 'maxAttempts: 99\n' } }
  const inputs = { ...QUICK, 'config-file': path }
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [turn] },
    inputs,
    files,
  })
  assert.equal(outputsOf(await site.go()).outcome, 'stuck', site.log())
  assert.match(
    site.log(),
    /the guard refused ci\/ralph-settings\.yml: only people may change Ralph's configuration/,
  )
})
