// Git data: refs, blobs, trees and commits, made with git's own plumbing.
import { GitError, zero } from '../bare.ts'
import type { Identity, Json } from '../model.ts'
import { apiUrl, htmlUrl, nodeId } from '../render.ts'
import { HttpError, noAccess, notFound, type World } from '../world.ts'
import { created, type Endpoints, empty, flag, ok, text } from './call.ts'
import { readCommit, verification } from './repository.ts'

function renderRef(world: World, ref: string, sha: string): Json {
  const object = { type: 'commit', sha, url: apiUrl(world, `/git/commits/${sha}`) }
  return { ref, node_id: nodeId('Ref', ref), url: apiUrl(world, `/git/${ref}`), object }
}
async function renderGitCommit(world: World, sha: string): Promise<Json> {
  const raw = await readCommit(world, sha)
  return {
    sha,
    node_id: nodeId('Commit', sha),
    url: apiUrl(world, `/git/commits/${sha}`),
    html_url: htmlUrl(world, `/commit/${sha}`),
    author: raw.author,
    committer: raw.committer,
    tree: { sha: raw.tree, url: apiUrl(world, `/git/trees/${raw.tree}`) },
    message: raw.message,
    parents: raw.parents.map((parent) => ({
      sha: parent,
      url: apiUrl(world, `/git/commits/${parent}`),
      html_url: htmlUrl(world, `/commit/${parent}`),
    })),
    verification: verification(world, sha),
  }
}
async function renderTree(world: World, sha: string, recursive: boolean): Promise<Json> {
  const listed = await world.bare.ask(['ls-tree', '-l', ...(recursive ? ['-r', '-t'] : []), sha])
  if (listed === null) throw notFound()
  const tree = (listed === '' ? [] : listed.split('\n')).map((line) => {
    const [, mode, type, id, size, path] = /^(\d+) (\w+) ([0-9a-f]+) +(\S+)\t(.*)$/.exec(line) ?? []
    const url = apiUrl(world, `/git/${type}s/${id}`)
    return { path, mode, type, sha: id, ...(size === '-' ? {} : { size: Number(size) }), url }
  })
  return { sha, url: apiUrl(world, `/git/trees/${sha}`), tree, truncated: false }
}

async function move(world: World, by: Identity, ref: string, before: string, after: string): Promise<void> {
  try {
    await world.bare.run(['update-ref', ref, after, before])
  } catch (error) {
    // Somebody else moved it in between.
    if (error instanceof GitError) throw new HttpError(422, 'Reference cannot be updated')
    throw error
  }
  await world.pushed([{ ref, before, after }], by)
}
function fullRef(params: Record<string, string>): string {
  return `refs/${params.ref}`
}
function protect(world: World, ref: string): void {
  if (world.settings.protectedBranches.some((name) => ref === `refs/heads/${name}`))
    throw new HttpError(422, 'Cannot update this protected ref.')
}

export const gitData: Endpoints = {
  'git/get-ref': {
    needs: ['contents:read'],
    answer: async ({ world, params }) => {
      const sha = (await world.bare.refs(fullRef(params))).get(fullRef(params))
      if (sha === undefined) throw notFound()
      return ok(renderRef(world, fullRef(params), sha))
    },
  },
  'git/list-matching-refs': {
    needs: ['contents:read'],
    answer: async ({ world, params }) => {
      const all = [...(await world.bare.refs())].filter(([ref]) => ref.startsWith(fullRef(params)))
      return ok(all.map(([ref, sha]) => renderRef(world, ref, sha)))
    },
  },
  'git/create-ref': {
    needs: ['contents:write'],
    answer: async ({ world, body, identity }) => {
      const ref = text(body, 'ref') ?? ''
      const sha = text(body, 'sha') ?? ''
      if (!/^refs\/[^/]+\/./.test(ref)) throw new HttpError(422, `${ref} is not a valid ref name.`)
      if ((await world.bare.ask(['cat-file', '-e', sha])) === null)
        throw new HttpError(422, 'Object does not exist')
      if ((await world.bare.refs(ref)).has(ref)) throw new HttpError(422, 'Reference already exists')
      protect(world, ref)
      await move(world, identity, ref, zero, sha)
      return created(renderRef(world, ref, sha))
    },
  },
  'git/update-ref': {
    needs: ['contents:write'],
    answer: async ({ world, params, body, identity }) => {
      const ref = fullRef(params)
      const sha = text(body, 'sha') ?? ''
      const before = (await world.bare.refs(ref)).get(ref)
      if (before === undefined) throw new HttpError(422, 'Reference does not exist')
      if ((await world.bare.ask(['cat-file', '-e', sha])) === null)
        throw new HttpError(422, 'Object does not exist')
      protect(world, ref)
      if (!flag(body, 'force') && !(await world.bare.isAncestor(before, sha)))
        throw new HttpError(422, 'Update is not a fast forward')
      await move(world, identity, ref, before, sha)
      return ok(renderRef(world, ref, sha))
    },
  },
  'git/delete-ref': {
    needs: ['contents:write'],
    answer: async ({ world, params, identity }) => {
      const ref = fullRef(params)
      const before = (await world.bare.refs(ref)).get(ref)
      if (before === undefined) throw new HttpError(422, 'Reference does not exist')
      protect(world, ref)
      await move(world, identity, ref, before, zero)
      return empty
    },
  },
  'git/create-blob': {
    needs: ['contents:write'],
    answer: async ({ world, body }) => {
      const encoding = text(body, 'encoding') === 'base64' ? 'base64' : 'utf8'
      const input = Buffer.from(text(body, 'content') ?? '', encoding)
      const sha = await world.bare.run(['hash-object', '-w', '--stdin'], { input })
      return created({ sha, url: apiUrl(world, `/git/blobs/${sha}`) })
    },
  },
  'git/get-blob': {
    needs: ['contents:read'],
    answer: async ({ world, params }) => {
      const sha = params.file_sha ?? ''
      if ((await world.bare.ask(['cat-file', '-t', sha])) !== 'blob') throw notFound()
      const bytes = await world.bare.bytes(['cat-file', 'blob', sha])
      const url = apiUrl(world, `/git/blobs/${sha}`)
      const content = bytes.toString('base64')
      return ok({ sha, node_id: nodeId('Blob', sha), url, size: bytes.length, encoding: 'base64', content })
    },
  },
  'git/create-tree': {
    needs: ['contents:write'],
    answer: async ({ world, body, identity }) => {
      const list = Array.isArray(body.tree) ? (body.tree as Json[]) : []
      const isGuarded = identity.kind !== 'user' && world.settings.workflowGuard !== 'off'
      if (isGuarded && list.some((entry) => String(entry.path).startsWith('.github/workflows/')))
        throw noAccess()
      const lines = await Promise.all(
        list.map(async (entry) => {
          if (entry.sha === null) return `0 ${zero}\t${entry.path}`
          const sha =
            typeof entry.content === 'string'
              ? await world.bare.run(['hash-object', '-w', '--stdin'], { input: entry.content })
              : entry.sha
          return `${entry.mode} ${sha}\t${entry.path}`
        }),
      )
      try {
        const sha = await world.bare.writeTree(text(body, 'base_tree') ?? null, lines)
        return created(await renderTree(world, sha, false))
      } catch (error) {
        if (error instanceof GitError) throw new HttpError(422, 'tree.sha is not a valid blob')
        throw error
      }
    },
  },
  'git/get-tree': {
    needs: ['contents:read'],
    answer: async ({ world, params, query }) =>
      ok(await renderTree(world, params.tree_sha ?? '', query.has('recursive'))),
  },
  'git/create-commit': {
    needs: ['contents:write'],
    answer: async ({ world, body, identity }) => {
      const own = { ...world.person(identity.login), date: world.now() }
      const author = { ...own, ...(body.author as object | undefined) }
      const committer = { ...author, ...(body.committer as object | undefined) }
      const parents = (body.parents ?? []) as string[]
      try {
        const sha = await world.bare.commitTree(
          text(body, 'tree') ?? '',
          parents,
          text(body, 'message') ?? '',
          {
            author,
            committer,
          },
        )
        // GitHub signs what a bot commits under its own name (facts 8).
        const isOwn = body.author === undefined && body.committer === undefined
        if (isOwn && identity.type === 'Bot') world.verified.add(sha)
        return created(await renderGitCommit(world, sha))
      } catch (error) {
        if (error instanceof GitError) throw new HttpError(422, 'Tree SHA does not exist')
        throw error
      }
    },
  },
  'git/get-commit': {
    needs: ['contents:read'],
    answer: async ({ world, params }) => ok(await renderGitCommit(world, params.commit_sha ?? '')),
  },
}
