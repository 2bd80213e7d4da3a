// What `ralph init` leaves to a person: each command once, and a first job that can run with every agent.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { agentNames, findAgent } from '../../../src/agents/registry.ts'
import { unreachableModel } from '../../../src/app/reach-model.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { readWorkflow } from '../../../src/setup/checks/workflow-file.ts'
import { NODE, openProject } from './init-project.ts'

const WORKFLOW = '.github/workflows/ralph.yml'

test('init prints every command that a person still has to run at GitHub', async () => {
  await using project = await openProject(NODE)
  execFileSync('git', ['init', '-q', '-b', 'trunk', project.folder])
  const { out } = project.init('--yes')
  const commands = [
    "gh api -X PUT repos/{owner}/{repo}/environments/ralph -F 'deployment_branch_policy[protected_branches]=false' -F 'deployment_branch_policy[custom_branch_policies]=true'",
    'gh api -X POST repos/{owner}/{repo}/environments/ralph/deployment-branch-policies -f name=trunk',
    'gh secret set ANTHROPIC_API_KEY --env ralph',
    'gh api -X PUT repos/{owner}/{repo}/actions/permissions/workflow -F can_approve_pull_request_reviews=true',
    'gh label create ralph-plan',
  ]
  const lines = out.split('\n').map((line) => line.trim())
  assert.deepEqual(
    lines.filter((line) => line.startsWith('gh ')),
    commands,
  )
  assert.match(out, /720 minutes a month in a private repository/)
  assert.match(await project.read('.github/workflows/ralph-resume.yml'), /720 minutes a month/)
})

test('a remote with a name from an SSH configuration leads to a note, and nothing is missing for it', async () => {
  await using project = await openProject(NODE)
  execFileSync('git', ['init', '-q', project.folder])
  execFileSync('git', ['-C', project.folder, 'remote', 'add', 'origin', 'git@work:acme/shop.git'])
  const { code, out } = project.init('--yes', '--isolation', 'separate-job')
  assert.equal(code, 0)
  assert.match(out, /note: origin is on the SSH host work\. If that is not GitHub's own site/)
  assert.doesNotMatch(out, /workflow for work|are for GitHub|artifacts of version 4/)
})

test('init says on its last screen that its workflows are for GitHub, if the remote is on another server', async () => {
  await using project = await openProject(NODE)
  execFileSync('git', ['init', '-q', project.folder])
  execFileSync('git', ['-C', project.folder, 'remote', 'add', 'origin', 'https://gitlab.com/acme/shop.git'])
  const { code, out } = project.init('--yes')
  assert.equal(code, 0)
  assert.match(out, /warning: the workflows in \.github\/workflows are for GitHub\. origin is on gitlab\.com/)
  assert.match(out, /examples\/other-ci\/gitlab-ci\.yml/)
  const [, screen = ''] = out.split('Ralph is set up, but something is missing.')
  assert.match(screen, /a workflow for gitlab\.com: those in \.github\/workflows are for GitHub/)
})

test('init leaves out what these settings do not need', async () => {
  await using project = await openProject(NODE)
  const own = ['--agent', 'custom', '--agent-command', 'cat', '--pull-request', 'none']
  const { out } = project.init('--yes', ...own)
  assert.doesNotMatch(out, /environments\/ralph|gh secret set|can_approve_pull_request_reviews/)
  assert.match(out, /gh label create ralph-plan/)
})

for (const agent of agentNames)
  test(`the first job of the workflow that init writes reaches the model of ${agent}`, async () => {
    await using project = await openProject(NODE)
    const command = agent === 'custom' ? ['--agent-command', 'cat'] : []
    const { code, err } = project.init('--yes', '--agent', agent, ...command)
    assert.equal(code, 0, err)
    const job = readWorkflow(WORKFLOW, await project.read(WORKFLOW), 'ralph/action')?.jobs[0]
    assert.ok(job !== undefined)
    const { settings } = readSettings({ inputs: job.inputs, env: {}, surface: 'action' })
    assert.equal(settings.isolation, 'other-user')
    assert.equal(settings.network, 'model')
    const vendor = findAgent(agent)
    assert.ok(vendor !== null)
    assert.equal(
      unreachableModel(settings, vendor, (name) => job.env.includes(name)),
      null,
    )
    // A limit of cost or time.
    assert.ok(settings.maxCostUsd !== null || settings.maxAgentTimeMs !== null)
  })

test('init refuses hosts that leave out those of the model', async () => {
  await using project = await openProject(NODE)
  const { code, err } = project.init('--yes', '--agent', 'copilot', '--network-allow', 'npm')
  assert.equal(code, 64)
  assert.match(
    err,
    /name the hosts of its model in network-allow \(api\.github\.com and \*\.githubcopilot\.com\)/,
  )
})

test('init says that a repository that locks its actions has to lock the new ones', async () => {
  await using project = await openProject({ ...NODE, '.github/workflows/actions.lock': 'workflows: {}\n' })
  const { err } = project.init('--yes')
  assert.match(err, /locks its actions in \.github\/workflows\/actions\.lock: run `gh actions-pin`/)
  await using other = await openProject(NODE)
  assert.doesNotMatch(other.init('--yes').err, /actions\.lock/)
})

test("init writes the project's own branch names into the conditions of its workflows", async () => {
  await using project = await openProject(NODE)
  const { code, err } = project.init('--yes', '--required', '--branch-name', 'feat/{feature}')
  assert.equal(code, 0, err)
  for (const path of [WORKFLOW, '.github/workflows/ralph-required.yml']) {
    const text = await project.read(path)
    assert.doesNotMatch(text, /'ralph\/'/)
    assert.match(text, /'feat\/'/)
  }
})
