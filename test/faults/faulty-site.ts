// A site on the stand-in for GitHub whose action processes carry the preload, and what its machines do at a plan's moment.
import { existsSync, writeFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSite, ROOT, type Site, story } from '../e2e/site.ts'
import type { Run } from '../standin/runner.ts'
import { agentScript, endWrong, GATE, githubWrong, processesWith } from './invariants.ts'
import { MET, type Plan, PRELOAD } from './points.ts'

export type FaultySite = Site & {
  /** Whom of the action's processes a plan meets: `main-1`, or `main of 1005`. */
  plan(plans: Record<string, Plan>): void
  /** Where the logs of effects are. */
  faults: string
  /** The folder for temporary files of every machine. */
  temporary: string
  /** A line each session of the agent: mode, story, attempt. */
  sessionLines(): Promise<string[]>
}
export type Place = AsyncDisposable & {
  open(options: {
    stories: Record<string, string[]>
    /** A condition of bash: the agent writes what the gates refuse. */
    bad: string
    inputs: Record<string, string>
    /** The four jobs of examples/ralph-separate.yml. */
    separate?: boolean
    /** The moment of a plan has come in this run. */
    met(run: Run, site: Site): unknown
  }): Promise<FaultySite>
}

/** Where sites are opened; with a copy of the bundle, so that a build meanwhile does not disturb. */
export async function openPlace(): Promise<Place> {
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ralph-kill-'))
  const action = join(folder, 'action')
  await cp(join(ROOT, 'dist'), join(action, 'dist'), { recursive: true })
  await cp(join(ROOT, 'action.yml'), join(action, 'action.yml'))
  return {
    async open({ stories, bad, inputs, met, separate = false }) {
      const at = await mkdtemp(join(folder, 'site-'))
      const [faults, machines, temporary] = ['faults', 'machines', 'tmp'].map((name) => join(at, name)) as [
        string,
        string,
        string,
      ]
      const sessions = join(at, 'sessions')
      await Promise.all([faults, machines, temporary].map((one) => mkdir(one)))
      await writeFile(sessions, '')
      await writeFile(join(at, 'agent.sh'), agentScript(bad))
      const node = join(at, 'node')
      const env = {
        NODE_OPTIONS: `--import=${PRELOAD}`,
        FAULTS: faults,
        TMPDIR: temporary,
        NODE_COMPILE_CACHE: join(folder, 'compiled'),
      }
      const exports = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`)
      await writeFile(node, `#!/bin/bash\n${exports.join('')}exec '${process.execPath}' "$@"\n`)
      await chmod(node, 0o755)
      const site = await openSite({
        stories: Object.entries(stories).map(([id, dependsOn]) => story(id, `part ${id}`, { dependsOn })),
        script: {},
        separate,
        inputs: {
          'agent-command': `bash "${join(at, 'agent.sh')}" "${sessions}"`,
          gates: `good: '${GATE}'`,
          ...inputs,
        },
        // The guard on workflow files is asked elsewhere; here it would cost two processes a push. What takes hours on
        // GitHub takes minutes here: the limit of an hour would be met.
        github: { workflowGuard: 'off', requestsPerHour: 1_000_000, root: at },
        runner: {
          node,
          action: { match: /^ralph\/action@/, path: action, inPlace: true },
          workRoot: machines,
        },
      })
      void watch(site, hasMet, (run) => met(run, site))
      return {
        ...site,
        faults,
        temporary,
        plan: (plans) => writeFileSync(join(faults, 'plans.json'), JSON.stringify(plans)),
        sessionLines: async () => (await readFile(sessions, 'utf8')).split('\n').filter(Boolean),
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  }
}

export function hasMet(run: Run): boolean {
  return run.jobs.some((job) => job.steps.some((step) => step.log.includes(MET)))
}

/** Tells of every run for which this holds, once, one after the other. Ends with the runner. */
export async function watch(
  site: Site,
  holds: (run: Run) => boolean,
  tell: (run: Run) => unknown,
): Promise<void> {
  const told = new Set<Run>()
  for (;;) {
    const run = await site.runner.when((one) => !told.has(one) && holds(one)).catch(() => null)
    if (run === null) return
    told.add(run)
    await tell(run)
  }
}

/** How a job dies: its main process alone, or the whole machine, which takes its temporary files along. */
export type How = 'kill' | 'halt'

/** What is wrong at the end of any run: in git, on GitHub, and what is left of processes and files. */
export async function siteWrong(site: FaultySite, how: How): Promise<string[]> {
  return [
    ...(await endWrong(site.github.bare.path)),
    ...(await githubWrong(site)),
    ...(await leftBehind(site, how)),
  ]
}

/** Processes and temporary files that are left. A lost machine takes its files along. */
export async function leftBehind(site: FaultySite, how: How): Promise<string[]> {
  const wrong: string[] = []
  const left = how === 'halt' ? [] : await readdir(site.temporary)
  if (left.length > 0) wrong.push(`temporary files are left: ${left.join(', ')}`)
  const alive = processesWith(site.faults)
  if (alive.length > 0) wrong.push(`processes are left: ${alive.join(', ')}`)
  return wrong
}
