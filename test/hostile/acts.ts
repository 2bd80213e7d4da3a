// The attempts on those who look: what ends the look, and files that act elsewhere than in the code.
import { storyUsage } from '../../src/engine/model/usage-totals.ts'
import type { Attempt } from './attempts.ts'
import type { Seen } from './seen.ts'

const passed = ({ state }: Seen, story: string): boolean =>
  state.prd.userStories.find((one) => one.id === story)?.passes === true

/** The attempt counts, and the story after it was worked on as if nothing had been. */
const counts =
  (story: string, isRefused: boolean) =>
  (seen: Seen): string | null => {
    const { timeline } = seen.state
    if (!timeline.some((one) => one.storyId === story)) return 'it is in no count'
    if (storyUsage(seen.state, story).calls === 0) return 'its session is in no count'
    if (isRefused && passed(seen, story)) return `${story} passed`
    return passed(seen, 'HONEST') ? null : 'the honest story after it did not pass'
  }

const DEEP = 'what is too deep is removed, and refuses the attempt that left it'

const looks: Omit<Attempt, 'group'>[] = [
  { id: 'break.deep', title: 'folders 2,500 deep', stops: DEEP, judge: counts('DEEP', true) },
  {
    id: 'break.place',
    title: 'the same in the place of a hook, of a lock and of a file of Ralph',
    stops: 'whatever is removed may be that deep',
    judge: counts('PLACE', false),
  },
  {
    id: 'break.path',
    title: 'a path 600 folders long',
    stops: 'the guard refuses it before anybody follows it',
    judge: counts('PATH', true),
  },
  {
    id: 'break.brackets',
    title: '200,000 brackets in each other in package.json',
    stops: 'brackets are counted before anything is parsed',
    judge: counts('BRACKETS', false),
  },
]

export const breaking: Attempt[] = looks.map((one) => ({ ...one, group: 'Those who look' }))

/** With the files that `tricks/act.mjs` writes. */
const ACTS: Record<string, { title: string; files: string[] }> = {
  npmrc: {
    title:
      '`.npmrc` with an escaped key, `$' +
      '{NOPE?}` and `userconfig`; `.yarnrc.yml`, `.pnp.cjs`, `.pnpmfile.cjs`',
    files: ['.npmrc', '.yarnrc.yml', '.pnp.cjs', '.pnpmfile.cjs'],
  },
  tools: {
    title: 'versions of tools (`.nvmrc`, `mise.toml`, `rust-toolchain.toml`)',
    files: ['.nvmrc', 'mise.toml', 'rust-toolchain.toml'],
  },
  attributes: { title: '`.gitattributes` that fold files of the diff away', files: ['.gitattributes'] },
  ci: {
    title: 'other CIs (`.gitlab-ci.yml`, `.circleci`, `Jenkinsfile`, `netlify.toml`)',
    files: ['.gitlab-ci.yml', '.circleci/config.yml', 'Jenkinsfile', 'netlify.toml'],
  },
  editors: {
    title: 'what editors and shells start (`.devcontainer`, `.vscode/tasks.json`, `.envrc`)',
    files: ['.devcontainer/devcontainer.json', '.vscode/tasks.json', '.envrc'],
  },
  bots: {
    title: 'settings of bots (`renovate.json`, `.github/dependabot.yml`)',
    files: ['renovate.json', '.github/dependabot.yml'],
  },
  hooks: {
    title: 'hooks on the machines of people (`.husky`, `lefthook.yml`)',
    files: ['.husky/pre-commit', 'lefthook.yml'],
  },
  consoles: {
    title: 'what consoles, debuggers and `git lfs` read (`.irbrc`, `.gdbinit`, `.Rprofile`, `.lfsconfig`)',
    files: ['.irbrc', '.gdbinit', '.Rprofile', '.lfsconfig'],
  },
  deploys: {
    title: 'what workflows and deployments run (`action.yml`, `.github/scripts`, `serverless.yml`)',
    files: ['action.yml', '.github/scripts/release.sh', 'serverless.yml'],
  },
}

/** The story's check names each of them, with what it acts on. */
const told =
  (files: readonly string[]) =>
  async (seen: Seen): Promise<string | null> => {
    const check = (await seen.site.checks()).get('ralph / ACT')
    const lines = (check?.text ?? '').replaceAll('\\', '').split('\n')
    const silent = files.find(
      (path) => !lines.some((line) => line.includes('acts on') && line.includes(path)),
    )
    return silent === undefined ? null : `nobody was told of ${silent}`
  }

const dropped =
  (files: readonly string[]) =>
  (seen: Seen): string | null => {
    const paths = seen.state.kept.PRESET?.dropped ?? []
    const left = files.find((path) => !paths.includes(path))
    return left === undefined ? null : `the guard let ${left} pass`
  }

const acts = (
  prefix: string,
  group: string,
  stops: string,
  judge: (files: readonly string[]) => Attempt['judge'],
) =>
  Object.entries(ACTS).map(
    ([name, { title, files }]): Attempt => ({
      id: `${prefix}.${name}`,
      title,
      group,
      stops,
      judge: judge(files),
    }),
  )

export const telling = acts(
  'act',
  'Files that act elsewhere, without a word',
  "a remark on the story's check names file and effect",
  told,
)
export const presets = acts(
  'preset',
  'Files that act elsewhere, at `protected-paths: elsewhere`',
  'the guard',
  dropped,
)
