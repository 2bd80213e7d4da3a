// A repository, a sample action and a runner for the tests of the runner itself.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GitHub, type GitHubOptions, startGitHub } from '../../standin/github.ts'
import { type Runner, type RunnerOptions, startRunner } from '../../standin/runner.ts'

export interface Sample extends AsyncDisposable {
  github: GitHub
  runner: Runner
}
export interface SampleOptions {
  /** Files under .github/workflows. */
  workflows: Record<string, string>
  /** The sample action's `main` and `post`. */
  main?: string
  post?: string
  inputs?: string
  runner?: Partial<RunnerOptions>
  github?: GitHubOptions
}

export async function startSample(options: SampleOptions): Promise<Sample> {
  const folder = await mkdtemp(join(tmpdir(), 'action-'))
  await mkdir(folder, { recursive: true })
  const post = options.post === undefined ? '' : '\n  post: post.mjs'
  const manifest = `name: Sample\n${options.inputs ?? ''}\nruns:\n  using: node24\n  main: main.mjs${post}\n`
  await writeFile(join(folder, 'action.yml'), manifest)
  await writeFile(join(folder, 'main.mjs'), options.main ?? '')
  await writeFile(join(folder, 'post.mjs'), options.post ?? '')
  const files = Object.entries(options.workflows).map(([name, text]) => [`.github/workflows/${name}`, text])
  const github = await startGitHub({
    people: { alice: 'admin', bob: 'read' },
    files: { 'README.md': 'Hello\n', ...Object.fromEntries(files) },
    ...options.github,
  })
  const runner = await startRunner({
    github,
    action: { match: /^ralph\/action@/, path: folder },
    ...options.runner,
  })
  return {
    github,
    runner,
    [Symbol.asyncDispose]: async () => {
      await runner[Symbol.asyncDispose]()
      await github[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What a step's log must hold before a test goes on. */
export function says(runner: Runner, text: string): ReturnType<Runner['when']> {
  return runner.when((run) => run.jobs.some((job) => job.steps.some((step) => step.log.includes(text))))
}
