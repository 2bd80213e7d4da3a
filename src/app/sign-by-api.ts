// Lets GitHub sign commits. git pushes the tree, GitHub makes the commit, and git fetches it. So every mode, link and parent stays as the
// gates saw it, and the number of files does not matter.
import { randomBytes } from 'node:crypto'
import type { CatFile } from '../git/cat-file.ts'
import type { Git, Remote } from '../git/git.ts'
import { describeRefusal, remoteRefs } from '../git/remote.ts'
import { type Signer, SigningError } from '../git/sign-commit.ts'

type NewCommit = { tree: string; parents: readonly string[]; message: string }

/** Makes a signed commit of a tree that the remote has. */
export type CreateCommit = (
  commit: NewCommit,
) => Promise<{ kind: 'signed'; sha: string } | { kind: 'unsigned' | 'refused'; reason: string }>

/** Temporary refs for the commits to sign, named by their time and a random number. Each is deleted at once. */
const NAMESPACE = 'refs/ralph-signing'
/** A ref that is older is of a job that died meanwhile. */
const STALE_MS = 60 * 60_000

export function apiSigner(git: Git, objects: CatFile, remote: Remote, create: CreateCommit): Signer {
  let hasLooked = false
  return async (bytes) => {
    if (!hasLooked) await deleteStale(git, remote)
    hasLooked = true
    const commit = parsed(bytes)
    const writer = git.writer(commit.tree)
    const unsigned = writer.add('commit', bytes)
    await writer.flush()
    const ref = `${NAMESPACE}/${Date.now()}-${randomBytes(8).toString('hex')}`
    await ask(git.push(remote, [{ ref, from: null, to: unsigned }]), 'push the tree', ref)
    try {
      const sha = await signedCommit(create, commit)
      await ask(git.fetch(remote, [sha], []), 'fetch the signed commit', sha)
      const signed = await objects.contents(sha)
      // GitHub's answer is not trusted: the commit must have exactly the tree that the gates saw.
      if (signed === null || JSON.stringify(parsed(signed)) !== JSON.stringify(commit))
        throw new SigningError('GitHub created a different commit from the one that Ralph asked for')
      return signed
    } finally {
      await git.push(remote, [{ ref, from: unsigned, to: '' }])
    }
  }
}

/** They do no harm, so it does not matter if this fails. */
async function deleteStale(git: Git, remote: Remote): Promise<void> {
  const left = await remoteRefs(git, remote, [`${NAMESPACE}/*`]).catch(() => new Map<string, string>())
  const madeAt = (ref: string) => Number(ref.slice(NAMESPACE.length + 1).split('-')[0])
  const stale = [...left].filter(([ref]) => madeAt(ref) < Date.now() - STALE_MS)
  if (stale.length > 0)
    await git.push(
      remote,
      stale.map(([ref, from]) => ({ ref, from, to: '' })),
    )
}

/** The id of the signed commit. Throws SigningError for anything unverified. */
export async function signedCommit(create: CreateCommit, commit: NewCommit): Promise<string> {
  const created = await create(commit)
  if (created.kind === 'signed') return created.sha
  throw new SigningError(
    created.kind === 'refused'
      ? `GitHub did not create the commit: ${created.reason}`
      : `GitHub did not sign the commit (${created.reason}). It signs only commits that the job's token or an App creates`,
  )
}

async function ask(answer: ReturnType<Git['push']>, what: string, named: string): Promise<void> {
  const { code, stdout, stderr } = await answer
  if (code === 0) return
  throw new SigningError(`Ralph could not ${what}: ${describeRefusal(`${stderr}\n${stdout}`, named)}`)
}

/** The parts of a commit that GitHub is asked for. The line end at the end of a message is git's. */
function parsed(bytes: Buffer): NewCommit {
  const text = bytes.toString('utf8')
  const end = text.indexOf('\n\n')
  const header = text.slice(0, end).split('\n')
  const of = (name: string) =>
    header.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []))
  return { tree: of('tree')[0] ?? '', parents: of('parent'), message: text.slice(end + 2).trimEnd() }
}
