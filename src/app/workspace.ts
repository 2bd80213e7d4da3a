import { agentSettings, documentNames, isAgentDocument } from '../agents/registry.ts'
import { createRepository, type Repository } from '../branch/repository.ts'
import { createStore, type Store } from '../branch/store.ts'
import type { SealPort } from '../engine/model/ports.ts'
import { mapTexts } from '../engine/model/text.ts'
import { isRalphPath } from '../gates/guard.ts'
import { isPackageManifest } from '../gates/product/manifests.ts'
import { createProductRules } from '../gates/product/rules.ts'
import { createExamine } from '../gates/remarks/examine.ts'
import { CatFile } from '../git/cat-file.ts'
import { type Snapshot, takeFurtherSnapshot, takeSnapshot } from '../git/clone.ts'
import { type Clone, Git, openClone, type Remote } from '../git/git.ts'
import type { Identity } from '../git/objects.ts'
import type { InitialRefs } from '../git/remote.ts'
import { findSubmodules, NO_SUBMODULES } from '../git/submodules.ts'
import { pathsIn } from '../git/trees.ts'
import type { Redactor } from '../isolation/redact.ts'
import { type Environment, secretsIn } from '../isolation/untrusted-env.ts'
import { notifySecrets } from '../notify/notice.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'
import { leaseMsOf } from './loop-limits.ts'
import { documentsOnOutcome } from './outcome.ts'
import { redactorFor } from './redactor.ts'
import { restorePlanMarks } from './restore-plan-marks.ts'
import { openSeal, sealStories } from './seal-examples.ts'
import { apiSigner, type CreateCommit, signedCommit } from './sign-by-api.ts'
import { type CommitSigner, openSigner } from './sign-commits.ts'

/** The repository and everything that reads and writes it. Ends its helper processes when disposed. */
export type Workspace = {
  clone: Clone
  git: Git
  objects: CatFile
  snapshot: Snapshot
  store: Store
  repository: Repository
  redactor: Redactor
  /** With `examples: sealed`; else null. */
  seal: SealPort | null
  /** With `sign-commits`; else null. */
  signer: CommitSigner | null
  /** The submodules that are checked out, by path. */
  submodules: ReadonlyMap<string, Git>
  [Symbol.dispose](): void
}

export type WorkspaceOptions = {
  settings: Settings
  env: Environment
  directory: string
  remote: Remote | null
  /** The remote that the branch is pushed to; null for `remote`. */
  publishRemote?: Remote | null
  identity: Identity | null
  /** Reads all refs that a job's start needs in one request. Left out: one request for each ref. */
  initialRefs?: InitialRefs
  /** A person works in the clone, although there is a remote: refs that are not Ralph's are left as they are. */
  isPersons?: true
  /** Secrets alongside those of settings and environment. */
  secrets?: readonly string[]
  /** Makes commits that GitHub signs; left out if there is no GitHub. */
  createCommit?: CreateCommit
  /** For a lane: the clone and the snapshot of its run. */
  run?: { clone: Clone; snapshot: Snapshot }
  /** False after the last agent has worked in the tree: then git is not run in submodules, which it may have changed. */
  submodules?: false
  warn(message: string): void
}

/** Opens the checkout. Throws UserError if Ralph cannot work in it. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { settings, env } = options
  const clone = await openCloneOf(options)
  if (clone.head === null) {
    throw new UserError({
      path: clone.workTree,
      found: 'this repository has no commits yet.',
      expected: '',
      fix: 'commit something first, because a branch starts from a commit',
    })
  }
  const git = await Git.open(clone, env)
  const objects = new CatFile(git)
  const { run } = options
  const snapshot =
    run === undefined
      ? await takeSnapshot(
          git,
          options.remote !== null && options.isPersons !== true,
          settings.stateNamespace,
        )
      : await takeFurtherSnapshot(git, run.snapshot)
  const redactor = redactorFor(secretsOf(settings, env, options.secrets ?? []))
  const looksInside = options.submodules !== false
  const submodules = looksInside ? await findSubmodules(git, clone.head, env) : NO_SUBMODULES
  const seal = openSeal(settings, clone)
  const signer = openSigner(settings, clone, env, () => signByApi(options, git, objects))
  const product = createProductRules(settings.product, {
    paths: (commit) => pathsIn(objects, commit),
    read: (commit, path) => objects.text(`${commit}:${path}`),
  })
  const repository = createRepository(git, objects, {
    submodules,
    // A signature has to belong to the committer, so the identity that git is set up with counts before that of the job.
    identity:
      (signer !== null && clone.config.has('user.email') ? null : options.identity) ?? identityOf(clone),
    sign: signer?.sign ?? null,
    snapshot,
    warn: options.warn,
    isRalphPath: isRalphPath,
    redact: redactor.redact,
    stateCommits: settings.commits.prdChanges,
    stateSubject: settings.commits.message,
    storySubject: settings.commits.story,
    onOutcome: documentsOnOutcome(settings, redactor.redact),
    restoreMarks: restorePlanMarks,
    ...(seal === null ? {} : { sealStories: (prd) => sealStories(prd, seal) }),
    documents: { isDocument: isAgentDocument, above: documentNames },
    examine: createExamine({
      isAgentDocument,
      protectedPaths: [...settings.protectedPaths],
      configFile: settings.configFile,
      agentSettings,
      productOf: product.of,
      redactor,
    }),
    product,
    async newDependencies(changes, objects) {
      if (!changes.some(({ path }) => isPackageManifest(path))) return []
      const { findNewDependencies } = await import(
        /* webpackChunkName: "dependencies" */ '../gates/dependencies/new-dependencies.ts'
      )
      return mapTexts(await findNewDependencies(changes, objects), redactor.redact)
    },
  })
  const store = createStore(git, objects, {
    namespace: settings.stateNamespace,
    remote: options.remote,
    publishRemote: options.publishRemote ?? null,
    ...(options.isPersons === true && { refusal: PERSON_REFUSED }),
    snapshot,
    initialRefs: options.initialRefs ?? null,
    leaseMs: leaseMsOf(settings),
  })
  return {
    clone,
    git,
    objects,
    snapshot,
    store,
    repository,
    redactor,
    seal,
    signer,
    submodules: submodules.repositories,
    [Symbol.dispose]: () => objects[Symbol.dispose](),
  }
}

const PERSON_REFUSED = {
  path: '--push',
  expected: '',
  fix: 'run `git push` here. If it is refused as well, log in again or ask for write access. If it works, a rule protects refs/ralph/*. Without --push, the run stays on this machine',
}

/** A lane's session has its own refs, and Ralph works with those of the run's clone. */
async function openCloneOf({ directory, env, run }: WorkspaceOptions): Promise<Clone> {
  const clone = await openClone(directory, env)
  return run === undefined ? clone : { ...clone, commonDir: run.clone.commonDir, hasOwnRefs: true }
}

/** Null without GitHub, and in a job that gets no token to write with. */
function signByApi(
  { createCommit, remote }: WorkspaceOptions,
  git: Git,
  objects: CatFile,
): CommitSigner | null {
  if (createCommit === undefined || remote === null) return null
  const trial = async () => {
    const head = git.clone.head ?? ''
    const tree = (await objects.root(head)) ?? ''
    return signedCommit(createCommit, { tree, parents: [head], message: 'trial' })
  }
  return { sign: apiSigner(git, objects, remote, createCommit), source: 'GitHub', trial }
}

function secretsOf(settings: Settings, env: Environment, more: readonly string[]): string[] {
  const { token, publishToken, examplesKey, signingKey, notify } = settings
  const own = [token, publishToken, examplesKey, signingKey]
  return [...secretsIn(env), ...notifySecrets(notify), ...own, ...more].filter((value) => value !== null)
}

/** The author of commits in this clone, from its git configuration. */
export function identityOf(clone: Clone): Identity {
  return {
    name: clone.config.get('user.name') ?? 'Ralph',
    email: clone.config.get('user.email') ?? 'ralph@localhost',
  }
}
