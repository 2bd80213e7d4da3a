// Which branch is the base, and whose configuration counts.
import assert from 'node:assert/strict'
import test from 'node:test'
import { type ActionContext, settingsOfBase, useWorkflow } from '../../../src/action/action-context.ts'

function contextOf(inputs: Record<string, string> = {}): ActionContext {
  return {
    env: {},
    place: { owner: 'acme', repo: 'shop', server: '', api: '', defaultBranch: 'main' },
    run: { id: 1, attempt: 1, url: '' },
    job: 'work',
    ref: 'refs/heads/main',
    workflow: 'ralph.yml',
    event: { kind: 'schedule' },
    inputs,
    workspace: '',
    settings: null,
  }
}

/** Branches with their ralph.config.yml; notes which of them were asked for. */
function repository(files: Record<string, string | null>) {
  const asked: string[] = []
  const treeOf = async (branch: string) => {
    asked.push(branch)
    const text = files[branch] ?? null
    return { branch, read: async (path: string) => (path === 'ralph.config.yml' ? text : null) }
  }
  return { asked, treeOf }
}

test("the base branch is the input, else the one in the default branch's configuration, else the default branch", async () => {
  const files = { main: 'baseBranch: develop\nmaxAttempts: 2\n', develop: 'maxAttempts: 7\n' }
  const { asked, treeOf } = repository(files)
  const named = await settingsOfBase(contextOf(), treeOf)
  assert.deepEqual([named.branch, named.tree.branch, named.settings.maxAttempts], ['develop', 'develop', 7])
  assert.deepEqual([named.settings.baseBranch, named.notes], ['develop', []])
  assert.deepEqual(asked, ['main', 'develop'])
  const given = await settingsOfBase(contextOf({ 'base-branch': 'main' }), repository(files).treeOf)
  assert.deepEqual([given.branch, given.settings.maxAttempts], ['main', 2])
  const plain = await settingsOfBase(contextOf(), repository({}).treeOf)
  assert.deepEqual([plain.branch, plain.settings.baseBranch], ['main', null])
})

test('baseBranch of two branches that name each other is followed once, and the second is a notice', async () => {
  const { asked, treeOf } = repository({ main: 'baseBranch: develop\n', develop: 'baseBranch: main\n' })
  const { branch, settings, notes } = await settingsOfBase(contextOf(), treeOf)
  assert.deepEqual([branch, settings.baseBranch, asked], ['develop', 'develop', ['main', 'develop']])
  assert.deepEqual(notes, [
    'the configuration on develop has base-branch: main, which Ralph ignores: it reads base-branch only on main',
  ])
})

test('dispatches go to the workflow that the configuration names, or to the one of the input', async () => {
  for (const [inputs, expected] of [
    [{}, 'worker.yml'],
    [{ workflow: '.github/workflows/other.yml' }, 'other.yml'],
  ] as const) {
    const context = contextOf(inputs)
    const { settings } = await settingsOfBase(context, repository({ main: 'workflow: worker.yml\n' }).treeOf)
    useWorkflow(context, settings)
    assert.equal(context.workflow, expected)
  }
})

test('a job that pushes nothing reads no publish token that the configuration names', async () => {
  const dispatch = {
    kind: 'dispatch',
    inputs: {},
    feature: null,
    generation: null,
    sender: { login: 'bob', type: 'User' },
  } as const
  const files = { main: `publishToken: \${RALPH_APP_TOKEN}\nmaxAttempts: 2\n` }
  for (const [event, command] of [
    [dispatch, 'work'],
    [dispatch, 'gate'],
    [{ kind: 'schedule' }, ''],
  ] as const) {
    const context = { ...contextOf({ command }), event }
    const { settings } = await settingsOfBase(context, repository(files).treeOf)
    assert.deepEqual([settings.publishToken, settings.maxAttempts], [null, 2])
  }
  for (const command of ['claim', 'land', '']) {
    const context = { ...contextOf({ command }), event: dispatch }
    await assert.rejects(settingsOfBase(context, repository(files).treeOf), /publishToken.*RALPH_APP_TOKEN/s)
  }
})
