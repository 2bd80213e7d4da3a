// The jobs that hand an iteration over to each other work for a dispatch only, also on a runner that starts them for a comment.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { ROOT } from '../../e2e/site.ts'

const START = join(ROOT, 'test', 'start', 'action.ts')

const COMMENT = {
  action: 'created',
  comment: {
    id: 1,
    body: '/ralph run',
    user: { login: 'bob', type: 'User' },
    created_at: 'a',
    updated_at: 'a',
  },
  issue: { number: 1, pull_request: {} },
}

for (const [command, name, payload] of [
  ['land', 'issue_comment', COMMENT],
  ['join', 'issue_comment', COMMENT],
  ['claim', 'issue_comment', COMMENT],
  ['gate', 'schedule', {}],
] as const) {
  test(`${command} for ${name} does nothing and says why`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ralph-event-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = (path: string) => join(folder, path)
    for (const path of ['output', 'state', 'summary']) await writeFile(file(path), '')
    await writeFile(file('event.json'), JSON.stringify(payload))
    const { status, stdout, stderr } = spawnSync(process.execPath, [START], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        RUNNER_TEMP: folder,
        GITHUB_EVENT_NAME: name,
        GITHUB_EVENT_PATH: file('event.json'),
        GITHUB_REPOSITORY: 'acme/shop',
        // Nothing listens there: a job that answers the comment fails.
        GITHUB_API_URL: 'http://127.0.0.1:9',
        GITHUB_SERVER_URL: 'http://127.0.0.1:9',
        GITHUB_WORKSPACE: folder,
        GITHUB_OUTPUT: file('output'),
        GITHUB_STATE: file('state'),
        GITHUB_STEP_SUMMARY: file('summary'),
        INPUT_COMMAND: command,
        INPUT_TOKEN: 'x',
      },
    })
    assert.equal(status, 0, `${stdout}${stderr}`)
    assert.match(
      stdout,
      new RegExp(`^::notice::command: ${command} works only for the event workflow_dispatch`, 'm'),
    )
  })
}

for (const example of ['ralph-separate', 'ralph-parallel', 'ralph-separate-parallel']) {
  test(`examples/${example}.yml: a job that runs whatever came before asks for the event`, async () => {
    const { jobs } = parse(await readFile(join(ROOT, 'examples', `${example}.yml`), 'utf8'))
    for (const [name, job] of Object.entries<{ if?: string }>(jobs)) {
      if (!/always\(\)|!cancelled\(\)/.test(job.if ?? '')) continue
      assert.match(job.if ?? '', /github\.event_name == 'workflow_dispatch'/, name)
    }
  })
}
