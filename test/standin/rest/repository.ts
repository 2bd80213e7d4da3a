// The repository, its people, branches, commits and files.

import { accountId } from '../accounts.ts'
import type { Json } from '../model.ts'
import { apiUrl, htmlUrl, nodeId, renderRepository, renderUser } from '../render.ts'
import { signWith } from '../signing-key.ts'
import { HttpError, notFound, type World } from '../world.ts'
import { type Answer, type Call, created, type Endpoints, ok, paged } from './call.ts'

function renderRelease(world: World, tag: string): Json {
  const born = `${world.born.toISOString().slice(0, 19)}Z`
  const self = apiUrl(world, '/releases/1')
  return {
    id: 1,
    node_id: nodeId('Release', 1),
    tag_name: tag,
    name: tag,
    target_commitish: world.settings.defaultBranch,
    draft: false,
    prerelease: false,
    created_at: born,
    published_at: born,
    author: renderUser(world, world.settings.owner),
    assets: [],
    url: self,
    html_url: htmlUrl(world, `/releases/tag/${tag}`),
    assets_url: `${self}/assets`,
    upload_url: `${self}/assets`,
    tarball_url: `${self}/tar`,
    zipball_url: `${self}/zip`,
  }
}

function renderEnvironment(
  world: World,
  { id, name, isLimited }: { id: number; name: string; isLimited: boolean },
): Json {
  const born = `${world.born.toISOString().slice(0, 19)}Z`
  return {
    id,
    node_id: nodeId('Environment', id),
    name,
    url: apiUrl(world, `/environments/${name}`),
    html_url: htmlUrl(world, `/deployments/activity_log?environments_filter=${name}`),
    created_at: born,
    updated_at: born,
    protection_rules: isLimited
      ? [{ id: 1, node_id: nodeId('ProtectionRule', 1), type: 'branch_policy' }]
      : [],
    deployment_branch_policy: isLimited ? { protected_branches: false, custom_branch_policies: true } : null,
  }
}

export interface RawCommit {
  tree: string
  parents: string[]
  author: { name: string; email: string; date: string }
  committer: { name: string; email: string; date: string }
  message: string
}

/** A commit as git stores it; a 404 when there is none. */
export async function readCommit(world: World, sha: string): Promise<RawCommit> {
  const raw = await world.bare.ask(['cat-file', 'commit', sha])
  if (raw === null) throw notFound()
  const [head = '', ...message] = raw.split('\n\n')
  const lines = head.split('\n')
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? ''
  const stamp = (line: string): RawCommit['author'] => {
    const found = /^(.*) <(.*)> (\d+) /.exec(line)
    const date = new Date(Number(found?.[3] ?? 0) * 1000).toISOString()
    return { name: found?.[1] ?? '', email: found?.[2] ?? '', date: `${date.slice(0, 19)}Z` }
  }
  return {
    tree: field('tree'),
    parents: lines.filter((line) => line.startsWith('parent ')).map((line) => line.slice(7)),
    author: stamp(field('author')),
    committer: stamp(field('committer')),
    message: message.join('\n\n'),
  }
}
const UNSIGNED = { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }

async function renderCommit(world: World, sha: string): Promise<Json> {
  const raw = await readCommit(world, sha)
  const html = htmlUrl(world, `/commit/${sha}`)
  return {
    sha,
    node_id: nodeId('Commit', sha),
    url: apiUrl(world, `/commits/${sha}`),
    html_url: html,
    comments_url: apiUrl(world, `/commits/${sha}/comments`),
    commit: {
      url: apiUrl(world, `/git/commits/${sha}`),
      author: raw.author,
      committer: raw.committer,
      message: raw.message,
      tree: { sha: raw.tree, url: apiUrl(world, `/git/trees/${raw.tree}`) },
      comment_count: 0,
      verification: UNSIGNED,
    },
    author: null,
    committer: null,
    parents: raw.parents.map((parent) => ({
      sha: parent,
      url: apiUrl(world, `/commits/${parent}`),
      html_url: htmlUrl(world, `/commit/${parent}`),
    })),
  }
}

/** The commit that a branch, tag or id names. GitHub answers 422 for an id that it does not have. */
export async function commitOf(world: World, ref: string): Promise<string> {
  const sha = await world.bare.resolve(ref.replace(/^(heads|tags)\//, 'refs/$1/'))
  if (sha === null) throw new HttpError(422, `No commit found for SHA: ${ref}`)
  return sha
}

function renderRef(world: World, ref: string, sha: string): Json {
  const object = { type: 'commit', sha, url: apiUrl(world, `/git/commits/${sha}`) }
  return { ref, node_id: nodeId('Ref', ref), url: apiUrl(world, `/git/${ref}`), object }
}

/**
 * GitHub signs what an App makes without an author, a committer and a signature (facts 9). `unsigned` of the settings: what a server
 * answers that does not.
 */
async function createCommit({ world, body, identity }: Call): Promise<Answer> {
  const {
    tree = '',
    parents = [],
    message = '',
  } = body as { tree?: string; parents?: string[]; message?: string }
  if ((await world.bare.ask(['cat-file', '-e', `${tree}^{tree}`])) === null)
    throw new HttpError(422, 'Tree SHA does not exist')
  for (const parent of parents)
    if ((await world.bare.ask(['cat-file', '-e', `${parent}^{commit}`])) === null)
      throw new HttpError(422, 'Parent SHA does not exist or is not a commit object')
  const isSigned =
    !world.settings.unsignedCommits &&
    identity.type === 'Bot' &&
    ['author', 'committer', 'signature'].every((name) => !(name in body))
  const { login } = identity
  const seconds = Math.floor(Date.now() / 1000)
  const payload = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${login} <${accountId(login)}+${login}@users.noreply.github.com> ${seconds} +0000`,
    `committer GitHub <noreply@github.com> ${seconds} +0000`,
    '',
    message,
  ].join('\n')
  const signature = isSigned ? await signWith(await world.signingKey(), payload) : null
  const bytes =
    signature === null
      ? payload
      : payload.replace('\n\n', `\ngpgsig ${signature.replaceAll('\n', '\n ')}\n\n`)
  const sha = await world.bare.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: bytes })
  const raw = await readCommit(world, sha)
  return created({
    sha,
    node_id: nodeId('Commit', sha),
    url: apiUrl(world, `/git/commits/${sha}`),
    html_url: htmlUrl(world, `/commit/${sha}`),
    author: raw.author,
    committer: raw.committer,
    message,
    tree: { sha: tree, url: apiUrl(world, `/git/trees/${tree}`) },
    parents: parents.map((parent) => ({
      sha: parent,
      url: apiUrl(world, `/git/commits/${parent}`),
      html_url: htmlUrl(world, `/commit/${parent}`),
    })),
    verification:
      signature === null
        ? UNSIGNED
        : { verified: true, reason: 'valid', signature, payload, verified_at: world.now() },
  })
}

export const repository: Endpoints = {
  'repos/get': { needs: [], answer: ({ world }) => ok(renderRepository(world)) },
  'repos/get-collaborator-permission-level': {
    needs: [],
    answer: ({ world, params }) => {
      const login = params.username ?? ''
      // Measured: the bot of Actions is an account like any other, other apps' bots are not (facts 5.2).
      if (login.endsWith('[bot]') && login !== 'github-actions[bot]')
        throw new HttpError(404, `${login} is not a user`)
      const { permission, role } = world.permissionOf(login)
      const at = ['none', 'read', 'triage', 'write', 'maintain', 'admin'].indexOf(role)
      const permissions = { pull: at >= 1, triage: at >= 2, push: at >= 3, maintain: at >= 4, admin: at >= 5 }
      return ok({
        permission,
        role_name: role,
        user: { ...renderUser(world, login), id: accountId(login), permissions, role_name: role },
      })
    },
  },
  'git/create-commit': {
    needs: ['contents:write'],
    answer: createCommit,
  },
  'git/list-matching-refs': {
    needs: ['contents:read'],
    answer: async ({ world, params }) => {
      const all = [...(await world.bare.refs())].filter(([ref]) => ref.startsWith(`refs/${params.ref}`))
      return ok(all.map(([ref, sha]) => renderRef(world, ref, sha)))
    },
  },
  'repos/get-branch': {
    needs: ['contents:read'],
    answer: async ({ world, params }) => {
      const name = params.branch ?? ''
      const sha = await world.bare.head(name)
      if (sha === null) throw new HttpError(404, 'Branch not found')
      const self = apiUrl(world, `/branches/${name}`)
      const contexts = world.settings.requiredChecks[name]
      const isProtected = world.settings.protectedBranches.includes(name) || contexts !== undefined
      const checks = { enforcement_level: 'non_admins', contexts: contexts ?? [], checks: [] }
      return ok({
        name,
        commit: await renderCommit(world, sha),
        _links: { self, html: htmlUrl(world, `/tree/${name}`) },
        protected: isProtected,
        protection: {
          enabled: isProtected,
          ...(contexts === undefined ? {} : { required_status_checks: checks }),
        },
        protection_url: `${self}/protection`,
      })
    },
  },
  'repos/get-branch-rules': {
    needs: [],
    answer: (call) => {
      const from = {
        ruleset_source_type: 'Repository',
        ruleset_source: call.world.fullName,
        ruleset_id: 1,
      }
      const rules = call.world.settings.branchRules[call.params.branch ?? ''] ?? []
      return paged(
        call,
        rules.map((rule) => ({ ...(typeof rule === 'string' ? { type: rule } : rule), ...from })),
      )
    },
  },
  'repos/get-all-environments': {
    needs: ['actions:read'],
    answer: (call) => {
      const all = Object.entries(call.world.settings.environments)
      const environments = all.map(([name, branches], at) =>
        renderEnvironment(call.world, { id: at + 1, name, isLimited: branches !== null }),
      )
      return paged(call, environments, (page) => ({ total_count: environments.length, environments: page }))
    },
  },
  'repos/list-deployment-branch-policies': {
    needs: ['actions:read'],
    answer: (call) => {
      const branches = call.world.settings.environments[call.params.environment_name ?? '']
      if (branches === undefined) throw notFound()
      const policies = (branches ?? []).map((name, at) => ({
        id: at + 1,
        node_id: nodeId('DeploymentBranchPolicy', at + 1),
        name,
        type: 'branch',
      }))
      return paged(call, policies, (page) => ({ total_count: policies.length, branch_policies: page }))
    },
  },
  // Anybody may see the releases of a public repository; those of another one alone are asked for.
  'repos/get-latest-release': {
    needs: [],
    answer: ({ world, params }) => {
      const tag = world.settings.releases[`${params.owner}/${params.repo}`]
      if (tag === undefined) throw notFound()
      return ok(renderRelease(world, tag))
    },
  },
  'repos/list-commits': {
    needs: ['contents:read'],
    answer: async (call) => {
      const { world, query } = call
      const from = await commitOf(world, query.get('sha') ?? world.settings.defaultBranch)
      const path = query.get('path')
      const shas = await world.bare.run(['rev-list', from, ...(path === null ? [] : ['--', path])])
      const page = paged(call, shas === '' ? [] : shas.split('\n'))
      return {
        ...page,
        body: await Promise.all((page.body as string[]).map((sha) => renderCommit(world, sha))),
      }
    },
  },
  'repos/get-content': {
    needs: ['contents:read'],
    answer: async ({ world, params, query }) => {
      const at = await world.bare.resolve(query.get('ref') ?? world.settings.defaultBranch)
      if (at === null) throw new HttpError(404, `No commit found for the ref ${query.get('ref')}`)
      const path = (params.path ?? '').replace(/\/$/, '')
      const kind = await world.bare.ask(['cat-file', '-t', `${at}:${path}`])
      if (kind === null) throw notFound()
      if (kind === 'blob')
        return ok(await file(world, path, at, await world.bare.run(['rev-parse', `${at}:${path}`])))
      const inside = await world.bare.run(['ls-tree', '-l', `${at}:${path}`])
      return ok(inside === '' ? [] : inside.split('\n').map((line) => entry(world, path, at, line)))
    },
  },
}

function links(world: World, path: string, at: string, sha: string): Json {
  const self = apiUrl(world, `/contents/${encodeURI(path)}?ref=${at}`)
  const html = htmlUrl(world, `/blob/${at}/${encodeURI(path)}`)
  const gitUrl = apiUrl(world, `/git/blobs/${sha}`)
  const raw = htmlUrl(world, `/raw/${at}/${encodeURI(path)}`)
  return {
    path,
    sha,
    url: self,
    html_url: html,
    git_url: gitUrl,
    download_url: raw,
    _links: { self, html, git: gitUrl },
  }
}
/** A line of `git ls-tree -l`: mode, type, object, size (or -), name. */
function entry(world: World, folder: string, at: string, line: string): Json {
  const [, type, sha = '', size = '', name = ''] = /^\d+ (\w+) ([0-9a-f]+) +(\S+)\t(.*)$/.exec(line) ?? []
  const path = folder === '' ? name : `${folder}/${name}`
  return {
    ...links(world, path, at, sha),
    type: type === 'tree' ? 'dir' : 'file',
    size: Number(size) || 0,
    name,
  }
}
async function file(world: World, path: string, at: string, sha: string): Promise<Json> {
  const bytes = await world.bare.bytes(['cat-file', 'blob', sha])
  const content = bytes.toString('base64').replaceAll(/.{60}/g, '$&\n')
  const name = path.split('/').at(-1)
  return {
    ...links(world, path, at, sha),
    type: 'file',
    name,
    size: bytes.length,
    encoding: 'base64',
    content,
  }
}
