// A runner whose event file holds no JSON: one clear message, outcome `error`, and nothing is begun.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../e2e/site.ts'

const START = join(ROOT, 'test', 'start', 'action.ts')

for (const [command, event, text] of [
  ['', 'workflow_dispatch', '{"inputs": {"feature": "au'],
  ['', 'issue_comment', '[1]'],
  ['resume-lost', 'schedule', ''],
  ['doctor', 'workflow_dispatch', 'null'],
] as const) {
  test(`${event} ${command}: an event payload that is not JSON is an error that names its file`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ralph-event-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = (name: string) => join(folder, name)
    for (const name of ['output', 'state', 'summary']) await writeFile(file(name), '')
    await writeFile(file('event.json'), text)
    const { status, stdout, stderr } = spawnSync(process.execPath, [START], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        RUNNER_TEMP: folder,
        GITHUB_EVENT_NAME: event,
        GITHUB_EVENT_PATH: file('event.json'),
        GITHUB_REPOSITORY: 'acme/shop',
        GITHUB_WORKSPACE: folder,
        GITHUB_OUTPUT: file('output'),
        GITHUB_STATE: file('state'),
        GITHUB_STEP_SUMMARY: file('summary'),
        ...(command === '' ? {} : { INPUT_COMMAND: command }),
      },
    })
    const errors = stdout.split('\n').filter((line) => line.startsWith('::error::'))
    assert.equal(errors.length, 1, `${stdout}${stderr}`)
    assert.match(
      errors[0] ?? '',
      /GITHUB_EVENT_PATH: the runner's event file \S+event\.json is not a JSON object\./,
    )
    assert.equal(status, 1)
    assert.doesNotMatch(`${stdout}${stderr}`, /SyntaxError|\n {4}at /)
    assert.match(await readFile(file('output'), 'utf8'), /^outcome<<\S+\nerror\n/m)
    assert.match(await readFile(file('summary'), 'utf8'), /GITHUB_EVENT_PATH/)
  })
}
