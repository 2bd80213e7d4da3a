// Keeps the state in git: one ref for each feature, compare-and-swap locally and on the remote. Implements StorePort.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LeaseLost, type StorePort } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { readState, STATE_FILE } from '../engine/stored-state.ts'
import type { CatFile } from '../git/cat-file.ts'
import { mirrorRefs, moveClone, type Snapshot, shareShallow } from '../git/clone.ts'
import { cloneRef, cloneRefs } from '../git/clone-refs.ts'
import type { Git, Remote } from '../git/git.ts'
import { UNKNOWN_TOKEN_MESSAGE } from '../git/git-process.ts'
import { readRef, refsBelow } from '../git/refs.ts'
import {
  ANSWER_HOLDS_MS,
  describeRefusal,
  type InitialRefs,
  push,
  queryRemote,
  REMOTE_REFUSAL,
  remoteRefs,
} from '../git/remote.ts'
import { moveOwnRef } from '../git/update-refs.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { clearPathTo, readRegularFile } from '../system/files.ts'
import { baseCommits, candidateCommits, stateParents } from './referenced-commits.ts'
import { readScreenshot } from './screenshot-blobs.ts'
import { commitState } from './state-commit.ts'
import { readStateNote, removeStateNote, stateNoteStamp, writeStateNote } from './state-note.ts'

export type StoreOptions = {
  /** `refs/ralph`: outside of refs/heads, so that a push starts no workflow. */
  namespace: string
  /** Null without a remote: then the local ref counts. */
  remote: Remote | null
  /** For the push of the branch, with an App's or a person's token so that CI starts on it; null for `remote`. */
  publishRemote: Remote | null
  /** What to do if the remote refuses a push: `path` is the input or flag that it is about. Left out: what a job needs. */
  refusal?: Pick<Mistake, 'path' | 'expected' | 'fix'>
  snapshot: Snapshot
  /** Reads all refs that a job needs at its start in one request; without it there is one request for each. */
  initialRefs?: InitialRefs | null
  /** How long each push renews the lease, milliseconds. */
  leaseMs: number
}

/** A hook or a ruleset of the remote refuses a ref. */
const REFUSED_BY_RULE = /^!.*\[remote rejected\]/m

const JOB_REFUSED = {
  path: 'input token',
  expected: '',
  fix: 'give the job permissions: contents: write, and do not protect refs/ralph/*',
}

/** A state that was read, and the ref's commit for the next compare-and-swap. */
export type StoredState = { state: State; commit: string }

/** `from`: the commit that the branch is at; null if it does not exist. */
export type BranchMove = { branch: string; from: string | null; to: string }

export type Store = StorePort & {
  loadNewest(ours: State): Promise<State>
  /** Every feature that has a state: folder name (`2026-01-31-auth`) to a version, which is another one after each change. */
  list(): Promise<Map<string, string>>
  /** Reads the state of a folder, and makes it the base of the next save; null if there is none. */
  load(folder: string): Promise<StoredState | null>
  /** A branch's head on the remote, or in the clone if there is no remote. */
  head(branch: string): Promise<string | null>
  /** Fetches commits: the tips only, or with their whole history. */
  fetch(wanted: readonly string[], history: 'tip' | 'whole'): Promise<void>
  /** Creates or moves branches on the remote by compare-and-swap; null if they are there now, else why the remote refused. */
  moveBranches(moves: readonly BranchMove[]): Promise<string | null>
  /** A picture that a loaded or saved state names (`Screenshot.blob`, `before`), as WebP; null if it is gone. */
  readScreenshot(blob: string): Promise<Buffer | null>
}

export function createStore(git: Git, objects: CatFile, options: StoreOptions): Store {
  return new GitStore(git, objects, options)
}

class GitStore implements Store {
  readonly #git: Git
  readonly #objects: CatFile
  readonly #options: StoreOptions
  readonly note?: (state: State) => Promise<void>
  /** The value of the ref when it was last read or moved. */
  #known: { ref: string; commit: string | null } | null = null
  #hasCheckedBranch = false
  /** How many states were pushed. The first push takes the lease. */
  #pushes = 0
  /** The branch head that the last push found, and when (`performance.now`). Null if we did not leave it there, or did not compare. */
  #seen: { branch: string; head: string; at: number } | null = null

  constructor(git: Git, objects: CatFile, options: StoreOptions) {
    this.#git = git
    this.#objects = objects
    this.#options = options
    if (options.remote === null) this.note = (state) => this.#note(state)
  }

  readScreenshot(blob: string): Promise<Buffer | null> {
    return readScreenshot(this.#objects, blob)
  }

  async list(): Promise<Map<string, string>> {
    const { remote, namespace } = this.#options
    if (remote === null) await this.#recoverRefs()
    const refs =
      remote === null
        ? refsBelow(this.#git.shared, `${namespace}/`)
        : await this.#refs(remote, `${namespace}/*`)
    const versionOf = (ref: string, at: string) =>
      remote === null ? `${at} ${stateNoteStamp(this.#git, ref)}` : at
    return new Map([...refs].map(([ref, at]) => [ref.slice(namespace.length + 1), versionOf(ref, at)]))
  }

  async load(folder: string): Promise<StoredState | null> {
    const { remote } = this.#options
    const ref = this.#refOf({ folder })
    if (remote !== null) {
      const at = (await this.#refs(remote, ref)).get(ref)
      if (at === undefined) return null
      await this.#fetch([at], (await this.#mayHide(ref)) ? '--depth=1' : '--depth=2')
      await this.#git.setRef(ref, at)
    }
    const commit = readRef(this.#git.shared, ref)
    if (commit === null) return null
    const state = await readState((file) => this.#objects.text(`${commit}:${file}`), `${ref}: ${STATE_FILE}`)
    if (state === null) throw new Error(`${ref} has no file ${STATE_FILE}`)
    this.#known = { ref, commit }
    if (remote !== null) await this.#fetchMissing([...stateParents(state), ...baseCommits(state)])
    const noted = remote === null ? await readStateNote(this.#git, this.#objects, ref, commit) : null
    return { state: noted ?? state, commit }
  }

  async #fetchMissing(commits: readonly string[]): Promise<void> {
    const missing: string[] = []
    for (const commit of commits) if (!(await this.#has(commit))) missing.push(commit)
    if (missing.length > 0) await this.fetch(missing, 'tip')
  }

  /**
   * Whether a fetch of the state with its parents (depth 2) could hide commits of this clone. git cuts the history off after the parents. A
   * clone of one commit without a state has no such commits. There this fetch saves a second one, because the green commit is a parent.
   */
  async #mayHide(ref: string): Promise<boolean> {
    const { shared, clone } = this.#git
    if (readRef(shared, ref) !== null || clone.head === null) return true
    const borders = await readRegularFile(join(shared, 'shallow'))
    return borders?.toString('utf8').split('\n').includes(clone.head) !== true
  }

  async loadNewest(ours: State): Promise<State> {
    this.#options.initialRefs?.end()
    // The job that claimed the feature has looked at the branch already.
    this.#hasCheckedBranch = true
    const known = this.#known
    const found = await this.load(ours.folder.replace(/^\.ralph\//, ''))
    if (found === null || found.state.lease?.nonce !== ours.lease?.nonce) {
      // We must not save on top of another run's state.
      this.#known = known
      throw new LeaseLost(`another job has the lease on ${ours.folder}`)
    }
    const { state } = found
    await this.fetch([state.green, ...baseCommits(state), ...candidateCommits(state)], 'tip')
    return state
  }

  async head(branch: string): Promise<string | null> {
    const ref = `refs/heads/${branch}`
    const { remote } = this.#options
    if (remote !== null) return (await this.#refs(remote, ref)).get(ref) ?? null
    return cloneRef(this.#git, ref)
  }

  async fetch(wanted: readonly string[], history: 'tip' | 'whole'): Promise<void> {
    await this.#fetch(wanted, history === 'tip' ? '--depth=1' : '--unshallow')
  }

  async #fetch(wanted: readonly string[], depth: `--depth=${number}` | '--unshallow'): Promise<void> {
    const { remote, snapshot } = this.#options
    if (remote === null) return
    const missing: string[] = []
    for (const oid of wanted) if (!(await this.#has(oid))) missing.push(oid)
    const isCut = await this.#git.isShallow()
    if (missing.length === 0 && (depth !== '--unshallow' || !isCut)) return
    await queryRemote('fetch', () => this.#git.fetch(remote, wanted, isCut ? [depth] : []))
    await shareShallow(this.#git, snapshot)
  }

  async save(state: State): Promise<void> {
    await this.#save(state, false)
  }

  async #note(state: State): Promise<void> {
    const ref = this.#refOf(state)
    const last = this.#expected(ref)
    const now = readRef(this.#git.shared, ref)
    if (now !== null && now !== last) throw new LeaseLost(`another process changed ${ref}`)
    // A program in the clone removed the ref, which the next save restores.
    if (last === null || now === null) return this.save(state)
    await writeStateNote(this.#git, ref, last, this.#renewed(state))
  }

  async publish(state: State, withBranch: boolean): ReturnType<StorePort['publish']> {
    const { remote, publishRemote } = this.#options
    const published = { ...state, published: state.green }
    if (remote === null || !withBranch) {
      await this.#save(withBranch ? published : state, withBranch)
      return { kind: 'published' }
    }
    const ref = this.#refOf(state)
    const branch = `refs/heads/${state.branch}`
    const before = this.#expected(ref)
    const commit = await this.#commitState(published)
    const result = await push(this.#git, publishRemote ?? remote, [
      { ref: branch, from: state.published, to: state.green },
      { ref, from: before, to: commit },
    ])
    if (result.kind === 'pushed') {
      await this.#moveLocal(published, commit, true)
      return { kind: 'published' }
    }
    await this.#revertRef(ref, before)
    if (result.kind === 'unknown-token' && publishRemote !== null) {
      const reason = `GitHub no longer accepts the publish token: ${describeRefusal(result.answer, branch)}`
      return { kind: 'expired', reason }
    }
    const now = await remoteRefs(this.#git, remote, [branch, ref])
    if ((now.get(ref) ?? null) !== before) throw await this.#rejectionError(state, before, result.answer)
    const head = now.get(branch) ?? null
    if (head === null || head === state.published)
      return { kind: 'refused', reason: describeRefusal(result.answer, state.branch) }
    await this.fetch([head], 'whole')
    return { kind: 'diverged', theirs: head }
  }

  async restore(state: State): ReturnType<StorePort['restore']> {
    const { remote, publishRemote } = this.#options
    if (remote === null) return { kind: 'published' } // the next save moves it
    const move = { ref: `refs/heads/${state.branch}`, from: null, to: state.green }
    const result = await push(this.#git, publishRemote ?? remote, [move])
    if (result.kind === 'pushed') return { kind: 'published' }
    return { kind: 'refused', reason: describeRefusal(result.answer, state.branch) }
  }

  async moveBranches(moves: readonly BranchMove[]): Promise<string | null> {
    const { remote, publishRemote } = this.#options
    if (remote === null || moves.length === 0) return null
    const refs = moves.map(({ branch, from, to }) => ({ ref: `refs/heads/${branch}`, from, to }))
    const result = await push(this.#git, publishRemote ?? remote, refs)
    return result.kind === 'pushed' ? null : describeRefusal(result.answer, 'a branch of the stack')
  }

  async peoplesHead(state: State, isAnew: boolean): ReturnType<StorePort['peoplesHead']> {
    const isFirst = !this.#hasCheckedBranch
    if (this.#options.remote === null && !isFirst) return null
    this.#hasCheckedBranch = true
    this.#options.initialRefs?.end()
    const isOurs = (head: string | null) =>
      head === null ? state.published === null : head === state.green || head === state.published
    // Each answer is used once. What people push after it is found at the next look at the branch.
    const seen = this.#seen
    this.#seen = null
    const isSeen = seen?.branch === state.branch && performance.now() - seen.at <= ANSWER_HOLDS_MS
    if (!isAnew && isSeen && isOurs(seen.head)) return null
    const isStart = isFirst && this.#pushes === 1
    if (!isAnew && isStart && (await this.#wasAtStart(state.branch, isOurs))) return null
    const head = await this.head(state.branch)
    if (isOurs(head)) return null
    if (head === null) return 'gone'
    await this.fetch([head], 'whole')
    return { head }
  }

  async baseHead(state: State): Promise<string | null> {
    if (this.#options.remote === null) return null
    const head = await this.head(state.base.branch)
    if (head === null || head === state.base.sha) return null
    await this.fetch([head], 'whole')
    return (await this.#git.isAncestor(head, state.green)) ? null : head
  }

  /**
   * Whether the job's first request for refs, at most a minute ago, found the branch at the right commit. No other job has moved it since:
   * it would have moved the state as well, and the push that took the lease would have failed. Later pushes of people are found the next
   * time that the branch is read.
   */
  async #wasAtStart(branch: string, isOurs: (head: string | null) => boolean): Promise<boolean> {
    const found = await this.#options.initialRefs?.answer(`refs/heads/${branch}`)
    return found != null && isOurs(found.at)
  }

  #refs(remote: Remote, pattern: string): Promise<Map<string, string>> {
    const { initialRefs: look = null } = this.#options
    return look === null ? remoteRefs(this.#git, remote, [pattern]) : look.refs(this.#git, remote, pattern)
  }

  #refOf({ folder }: Pick<State, 'folder'>): string {
    return `${this.#options.namespace}/${folder.replace(/^\.ralph\//, '')}`
  }

  #expected(ref: string): string | null {
    return this.#known?.ref === ref ? this.#known.commit : null
  }

  async #has(commit: string): Promise<boolean> {
    return (await this.#objects.root(commit)) !== null
  }

  async #save(state: State, withBranch: boolean): Promise<void> {
    const { remote } = this.#options
    const ref = this.#refOf(state)
    const before = this.#expected(ref)
    const commit = await this.#commitState(state)
    if (remote !== null) {
      const { branch, published } = state
      const isThere = published !== null && (await this.#has(published))
      const compared = isThere ? { ref: `refs/heads/${branch}`, at: published } : null
      const result = await push(this.#git, remote, [{ ref, from: before, to: commit }], compared)
      const isUnmoved = result.kind === 'pushed' && result.isUnmoved === true
      this.#seen = isThere && isUnmoved ? { branch, head: published, at: performance.now() } : null
      if (result.kind !== 'pushed') {
        await this.#revertRef(ref, before)
        if (result.kind === 'stale') throw new LeaseLost(`${ref} moved`)
        throw await this.#rejectionError(state, before, result.answer)
      }
    }
    await this.#moveLocal(state, commit, withBranch)
    // Not while a candidate is verified, as packing would use up the time of its iteration.
    if (!Object.values(state.attempts).some((one) => 'candidate' in one)) await this.#git.packLoose()
  }

  /** Every save renews the lease. */
  #renewed(state: State): State {
    if (state.lease === null) return state
    return { ...state, lease: { ...state.lease, expiresAt: Date.now() + this.#options.leaseMs } }
  }

  /** Commits the state on top of the last one, with the green commit as a parent, and moves the local ref to it. */
  async #commitState(unrenewed: State, isSecond = false): Promise<string> {
    const { remote, initialRefs: look } = this.#options
    look?.end()
    this.#pushes += 1
    const { shared } = this.#git
    const state = this.#renewed(unrenewed)
    const ref = this.#refOf(state)
    if (this.#known?.ref !== ref) this.#known = { ref, commit: null }
    const { commit: last } = this.#known
    // The green commit is the first parent: compared with it the state commit only adds files. Otherwise GitHub would refuse the push
    // from an App's token if people have merged a changed workflow.
    const parents = last === null ? stateParents(state) : [...stateParents(state), last]
    const made = await commitState(this.#git, this.#objects, state, parents)
    // The local compare-and-swap.
    if (await this.#moveLocalRef(ref, last, made)) return made
    // With a remote, the remote's ref counts, and the push will show whether it moved: some program in the clone changed the local one.
    // Without a remote, a moved ref means that another run has taken over. No run ever removes the ref.
    const isMoved = readRef(shared, ref) !== null
    if ((remote === null && isMoved) || isSecond) throw new LeaseLost(`another process changed ${ref}`)
    await this.#revertRef(ref, last)
    return this.#commitState(unrenewed, true)
  }

  /** Moves the ref in Ralph's directory, after removing what an agent may have put instead or above it. */
  async #moveLocalRef(ref: string, from: string | null, to: string): Promise<boolean> {
    const { shared } = this.#git
    const move = () => moveOwnRef(this.#git, ref, from, to)
    return move().catch(async () => {
      await clearPathTo(join(shared, 'refs'), join(shared, ref))
      return move()
    })
  }

  async #moveLocal(state: State, commit: string, withBranch: boolean): Promise<void> {
    const ref = this.#refOf(state)
    this.#known = { ref, commit }
    const { snapshot, remote } = this.#options
    if (remote === null) removeStateNote(this.#git, ref)
    const mirror: [string, string] = [ref, commit]
    const held = Object.keys(state.attempts).length === 0 ? 'released' : 'held'
    // Before the first publish the feature has no branch, and a run that ends then must not change the branch of the user.
    // A job that has not read the branch yet must not move it, as people may have committed there.
    if (state.published === null || !(withBranch || state.job.ready.opened))
      // The ref is mirrored in the clone, as `git gc` there does not know Ralph's directory.
      await mirrorRefs(this.#git, snapshot, [mirror], held)
    else await moveClone(this.#git, snapshot, state.branch, state.green, [mirror], held)
  }

  /** After a refused push: sets the local ref back to the remote's value. */
  async #revertRef(ref: string, before: string | null): Promise<void> {
    const { shared } = this.#git
    const file = join(shared, ref)
    await clearPathTo(join(shared, 'refs'), file)
    // git does not replace a file that is not a ref.
    if (readRef(shared, ref) === null) await rm(file, { force: true })
    await this.#git.setRef(ref, before)
  }

  /** Restores refs that are missing in Ralph's directory, or whose commit is gone, from their copies in the clone. */
  async #recoverRefs(): Promise<void> {
    const { shared } = this.#git
    const prefix = `${this.#options.namespace}/`
    const own = refsBelow(shared, prefix)
    for (const [ref, at] of await cloneRefs(this.#git, prefix)) {
      const known = own.get(ref) ?? null
      if (known === at || (known !== null && (await this.#has(known)))) continue
      await this.#moveLocalRef(ref, known, at)
    }
  }

  async #rejectionError(state: State, before: string | null, answer: string): Promise<Error> {
    const { remote } = this.#options
    const ref = this.#refOf(state)
    const now = remote === null ? null : await remoteRefs(this.#git, remote, [ref]).catch(() => null)
    if (now !== null && (now.get(ref) ?? null) !== before) return new LeaseLost(`${ref} moved`)
    const { refusal = JOB_REFUSED } = this.#options
    // A job's report shows the rule; on a laptop, the error says what to do about it.
    const isPersonsRule = refusal !== JOB_REFUSED && REFUSED_BY_RULE.test(answer)
    if (!isPersonsRule && !REMOTE_REFUSAL.test(answer) && !UNKNOWN_TOKEN_MESSAGE.test(answer))
      return new Error(`Ralph could not save the state: ${describeRefusal(answer, ref)}`)
    return new UserError({ ...refusal, found: `${describeRefusal(answer, ref)}.` })
  }
}
