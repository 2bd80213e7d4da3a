// actions/checkout, done with real git over HTTP and the job's own token.
import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from '../bare.ts'

export interface Checkout {
  /** The version after the @ of `uses`. */
  version: string
  inputs: Record<string, string>
  serverUrl: string
  repository: string
  /** The full ref and the commit that the event names. */
  ref: string
  sha: string
  token: string
  workspace: string
  temp: string
  home: string
  log: (line: string) => void
}
export interface CheckedOut {
  outputs: Record<string, string>
  /** Takes the credentials away again: checkout's post step. */
  post: () => Promise<void>
}

/** Clones into the workspace. Rejects with git's own words. */
export async function checkout(wanted: Checkout): Promise<CheckedOut> {
  const { inputs, serverUrl, workspace } = wanted
  const folder = inputs.path === undefined || inputs.path === '' ? workspace : join(workspace, inputs.path)
  await mkdir(folder, { recursive: true })
  const token = inputs.token === undefined || inputs.token === '' ? wanted.token : inputs.token
  const repository =
    inputs.repository === undefined || inputs.repository === '' ? wanted.repository : inputs.repository
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const key = `http.${serverUrl}/.extraheader`
  const environment = { HOME: wanted.home, GIT_TERMINAL_PROMPT: '0' }
  const plain = (args: string[]): Promise<Buffer> => git(args, { cwd: folder, env: environment })
  const authorised = (args: string[]): Promise<Buffer> =>
    git(args, {
      cwd: folder,
      env: { ...environment, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: key, GIT_CONFIG_VALUE_0: header },
    })

  await plain(['init', '--quiet', '--initial-branch=master', '.'])
  await plain(['remote', 'add', 'origin', `${serverUrl}/${repository}`])
  await plain(['config', 'gc.auto', '0'])
  const target = await fetchTarget(wanted, authorised)
  wanted.log(`Checking out the ref ${target.at}`)
  await plain(['checkout', '--quiet', '--progress', '--force', ...target.checkout])
  const commit = (await plain(['log', '-1', '--format=%H'])).toString().trim()

  if (inputs['persist-credentials'] === 'false')
    return { outputs: { ref: target.at, commit }, post: async () => {} }
  const major = Number(/^v?(\d+)/.exec(wanted.version)?.[1] ?? 7)
  const gitFolder = join(folder, '.git')
  if (major < 6) {
    await plain(['config', key, header])
    return {
      outputs: { ref: target.at, commit },
      post: async () => void (await plain(['config', '--unset-all', key])),
    }
  }
  // v6 and newer keep the token out of .git/config (facts 7).
  const file = join(wanted.temp, `git-credentials-${randomUUID()}.config`)
  await writeFile(file, '')
  await plain(['config', '--file', file, key, header])
  for (const scope of [gitFolder, `${gitFolder}/worktrees/*`])
    await plain(['config', `includeIf.gitdir:${scope}.path`, file])
  const post = async (): Promise<void> => {
    for (const scope of [gitFolder, `${gitFolder}/worktrees/*`])
      await plain(['config', '--unset-all', `includeIf.gitdir:${scope}.path`]).catch(() => {})
    await rm(file, { force: true })
  }
  return { outputs: { ref: target.at, commit }, post }
}

async function fetchTarget(
  wanted: Checkout,
  run: (args: string[]) => Promise<Buffer>,
): Promise<{ at: string; checkout: string[] }> {
  const { inputs } = wanted
  const depth = Number(inputs['fetch-depth'] ?? '1')
  const options = [
    '--no-recurse-submodules',
    '--prune',
    ...(inputs['fetch-tags'] === 'true' ? [] : ['--no-tags']),
  ]
  const filter = inputs.filter === undefined || inputs.filter === '' ? [] : [`--filter=${inputs.filter}`]
  const shallow = depth > 0 ? [`--depth=${depth}`] : []
  const fetch = (...specs: string[]): Promise<Buffer> =>
    run([
      '-c',
      'protocol.version=2',
      'fetch',
      '--quiet',
      ...options,
      ...filter,
      ...shallow,
      'origin',
      ...specs,
    ])
  // Depth 0 is everything; what the event names is fetched beside it only where the branch has moved on.
  if (depth <= 0) await fetch('+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*')

  const named = inputs.ref ?? ''
  const isOwn = (inputs.repository ?? '') === '' || inputs.repository === wanted.repository
  if (named === '' && isOwn) {
    if (!wanted.ref.startsWith('refs/heads/')) {
      await fetch(`+${wanted.sha}:${wanted.ref.replace(/^refs\//, 'refs/remotes/')}`)
      return { at: wanted.ref, checkout: [wanted.sha] }
    }
    const branch = wanted.ref.replace('refs/heads/', '')
    await fetch(`+${wanted.sha}:refs/remotes/origin/${branch}`)
    return { at: wanted.ref, checkout: ['-B', branch, `refs/remotes/origin/${branch}`] }
  }
  if (/^[0-9a-f]{40}$/.test(named)) {
    await fetch(named)
    return { at: named, checkout: ['--detach', named] }
  }
  const full = await findRef(named, run)
  if (full.startsWith('refs/tags/')) {
    await fetch(`+${full}:${full}`)
    return { at: full, checkout: ['--detach', full] }
  }
  const branch = full.replace('refs/heads/', '')
  await fetch(`+${full}:refs/remotes/origin/${branch}`)
  return { at: full, checkout: ['-B', branch, `refs/remotes/origin/${branch}`] }
}

/** The full ref for a branch, a tag or a ref; for nothing, the default branch. */
async function findRef(named: string, run: (args: string[]) => Promise<Buffer>): Promise<string> {
  const listed = (await run(['ls-remote', '--quiet', '--symref', 'origin'])).toString()
  const head = /^ref: (\S+)\tHEAD/m.exec(listed)?.[1]
  const refs = new Set(listed.split('\n').map((line) => line.split('\t')[1]))
  const candidates = named === '' ? [head ?? ''] : [named, `refs/heads/${named}`, `refs/tags/${named}`]
  const full = candidates.find((one) => refs.has(one))
  if (full === undefined) throw new Error(`A branch or tag with the name '${named}' could not be found`)
  return full
}
