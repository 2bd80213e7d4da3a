// Runs the workflows of the stand-in for GitHub with act (nektosact.com), as programs of this machine. act reads the workflow, decides which
// jobs listen to an event, evaluates expressions and runs the bundle. Needs `act` on PATH; the project's other tests need none.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../e2e/site.ts'
import type { GitHub, Json, Permissions, Run } from '../standin/github.ts'
import { dispatch } from '../standin/rest/actions.ts'
import type { Runner } from '../standin/runner.ts'

const run = promisify(execFile)

/** What the two jobs of the starter workflow may do. act gives a token to all jobs of a workflow. */
const PERMISSIONS: Permissions = {
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  actions: 'write',
}

type Told = { event: string; payload: Json; actor: string; run: Run | null }

/** In place of the stand-in's own runner. What no test of act needs is refused. */
export async function startActRunner({ github }: { github: GitHub }): Promise<Runner> {
  const home = await mkdtemp(join(tmpdir(), 'act-'))
  const logs: string[] = []
  let count = 0
  let last: Promise<void> = Promise.resolve()

  /** Events come one after the other, as in a workflow whose jobs share a concurrency group. */
  function tell(told: Told): void {
    last = last.then(() => act(told))
  }

  async function act({ event, payload, actor, run: begun }: Told): Promise<void> {
    count += 1
    const clone = join(home, `clone-${count}`)
    const token = github.mintJobToken(PERMISSIONS)
    const authorized = github.cloneUrl.replace('://', `://x-access-token:${token}@`)
    await run('git', ['clone', '--quiet', '--depth=1', authorized, clone])
    await run('git', ['-C', clone, 'remote', 'set-url', 'origin', github.cloneUrl])
    const file = join(home, `event-${count}.json`)
    await writeFile(file, JSON.stringify(payload))
    const actHome = join(home, `home-${count}`)
    await mkdir(actHome)
    const env = {
      GITHUB_API_URL: github.url,
      GITHUB_SERVER_URL: github.url,
      GITHUB_GRAPHQL_URL: github.graphqlUrl,
      GITHUB_REPOSITORY: github.fullName,
      GITHUB_RUN_ID: String(begun?.id ?? 900_000 + count),
    }
    const args = [event, '--workflows', '.github/workflows/ralph.yml', '--eventpath', file, '--actor', actor]
    const machine = [
      '--platform',
      'ubuntu-24.04=-self-hosted',
      '--local-repository',
      `ralph/action@<sha>=${ROOT}`,
    ]
    const given = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const done = await run('act', [...args, ...machine, ...given, '--secret', `GITHUB_TOKEN=${token}`], {
      cwd: clone,
      env: { ...process.env, HOME: actHome },
      maxBuffer: 64 << 20,
    }).catch((error: { stdout?: string; stderr?: string }) => error)
    logs.push(`== act ${event}\n${done.stdout ?? ''}${done.stderr ?? ''}`)
    if (begun === null) return
    begun.status = 'completed'
    begun.conclusion = 'success'
  }

  github.world.onEvent(({ name, payload, actor, byJob }) => {
    if (!byJob) tell({ event: name, payload, actor, run: null })
  })
  github.world.onRun((begun) => {
    if (begun.status !== 'completed')
      tell({
        event: 'workflow_dispatch',
        payload: { ...begun.payload, inputs: begun.inputs },
        actor: begun.actor,
        run: begun,
      })
  })
  const refused = () => {
    throw new Error('act cannot do that')
  }
  return {
    runs: github.world.runs,
    dispatch: (workflow, inputs = {}, options = {}) =>
      dispatch(github.world, { workflow, inputs, ref: 'main', actor: options.actor ?? 'alice' }),
    async settled() {
      for (let seen: Promise<void> | null = null; seen !== last; ) {
        seen = last
        await seen
      }
    },
    log: () => logs.join('\n'),
    trigger: refused,
    when: refused,
    cancel: refused,
    kill: refused,
    shutdown: refused,
    rerun: refused,
    async [Symbol.asyncDispose]() {
      await rm(home, { recursive: true, force: true })
    },
  }
}
