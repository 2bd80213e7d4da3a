// State in git: one ref a feature, compare-and-swap locally and on the remote. Implements StorePort.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stateFrom } from '../loop/stored.ts'
import { LeaseLost, type StorePort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { UserError } from '../system/errors.ts'
import { clearWay } from '../system/files.ts'
import { type CatFile, TREE } from './cat-file.ts'
import { moveClone, type Snapshot, shareShallow } from './clone.ts'
import { type Git, GitError, type Remote, UNKNOWN_TOKEN } from './git.ts'
import { commitBytes, type NewEntry, treeBytes } from './objects.ts'
import { moveRef, readRef } from './refs.ts'

export type StoreOptions = {
  /** `refs/ralph`: outside refs/heads, so that a push of it starts no workflow. */
  namespace: string
  /** Null: git stays local, and the local ref is the truth. */
  remote: Remote | null
  /** Pushes the branch (an App's or a person's token, so that CI starts on it); null for `remote`. */
  publishRemote: Remote | null
  snapshot: Snapshot
  /** How long a lease holds from each push on, milliseconds. */
  leaseMs: number
}

/** A state as it was found: the ref's commit, for the next compare-and-swap. */
export type Found = { state: State; commit: string }

export type Store = StorePort & {
  /** Every feature that has a state: folder name (`2026-01-31-auth`) to commit. */
  list(): Promise<Map<string, string>>
  /** Reads the state of a folder and makes it the base of the next save; null where there is none. */
  load(folder: string): Promise<Found | null>
  /** A branch's head on the remote (or in the clone where there is none). */
  head(branch: string): Promise<string | null>
  /** Brings commits here: enough to build on, or with their whole history. */
  fetch(wanted: readonly string[], history: 'tip' | 'whole'): Promise<void>
}

/** Pauses before a way to the remote is tried again, seconds: a minute in all (facts 3.5). */
const PAUSES_S = [0.25, 1, 3, 8, 16, 32]
/** The remote knows this token and says no: asking again changes nothing. */
const REFUSED =
  /(returned error:|HTTP) 40[34]|permission to .* denied|write access to repository not granted|repository .*not found/i
/** How git ends when the way to a remote fails, or takes too long. */
const FAILED = [1, 124, 128]
const FOLDER = '.ralph-state'
const RALPH = { name: 'Ralph', email: 'ralph@localhost' }
/** Where the state stands in its commit. */
export const STATE_FILE = `${FOLDER}/state.json`

export function createStore(git: Git, objects: CatFile, options: StoreOptions): Store {
  const { remote, namespace, snapshot } = options
  let known: { ref: string; commit: string | null; green: string | null } | null = null
  let firstLook = true

  const refOf = (folder: string) => `${namespace}/${folder.replace(/^\.ralph\//, '')}`

  async function shallow(): Promise<boolean> {
    return (await git.line(['rev-parse', '--is-shallow-repository'])) === 'true'
  }

  /** A lease holds from the last push on: whoever pushes lives. */
  function renewed(state: State): State {
    if (state.lease === null) return state
    return { ...state, lease: { ...state.lease, expiresAt: Date.now() + options.leaseMs } }
  }

  /** One commit that holds the state, on top of the last one, with the green commit reachable. */
  async function write(given: State, isSecond = false): Promise<string> {
    const state = renewed(given)
    const ref = refOf(state.folder)
    if (known?.ref !== ref) known = { ref, commit: null, green: null }
    // A new green commit comes first: against it the state commit only adds, also where people brought in a workflow that
    // changed at the base, which GitHub would refuse from an App's token.
    const parents = [known.green === state.green ? null : state.green, known.commit].filter(
      (oid) => oid !== null,
    )
    const tree = await objects.root(state.green)
    if (tree === null) throw new Error(`the green commit ${state.green} is not in this clone`)
    const writer = git.writer(tree)
    const folder = (entries: NewEntry[]): string => writer.add('tree', treeBytes(entries))
    const kept = Object.entries(state.kept).map(([id, { base, tree: work }]) => {
      const both = [
        { name: 'base', mode: TREE, oid: base },
        { name: 'work', mode: TREE, oid: work },
      ]
      return { name: id, mode: TREE, oid: folder(both) }
    })
    const text = writer.add('blob', Buffer.from(`${JSON.stringify(state)}\n`))
    const own = [{ name: 'state.json', mode: '100644', oid: text }]
    if (kept.length > 0) own.push({ name: 'kept', mode: TREE, oid: folder(kept) })
    const [green] = await objects.trees([tree])
    const beside = [...(green ?? [])]
      .map(([name, entry]) => ({ name, ...entry }))
      .filter(({ name }) => name !== FOLDER)
    // The green tree lies below the state, so that against its parent the commit only adds: one without
    // `.github/workflows` would read as their deletion, which GitHub refuses from an App's token (facts 3.4).
    const root = folder([...beside, { name: FOLDER, mode: TREE, oid: folder(own) }])
    const about = state.attempt === null ? 'checkpoint' : `${state.attempt.storyId} in work`
    const message = `ralph: iteration ${state.prd.run.iterations}, ${about}\n`
    const made = writer.add('commit', commitBytes(root, parents, RALPH, new Date(), message))
    await objects.prove(await writer.flush())
    // Forward from `known` only: the local compare-and-swap.
    if (await forward(ref, known.commit, made)) return made
    // Where there is a remote, its ref is the truth, and the push will tell: ours was moved by somebody in the clone.
    // Whoever takes over moves it, and never takes it away.
    const isMoved = readRef(git.shared, ref) !== null
    if ((remote === null && isMoved) || isSecond) throw new LeaseLost(`${ref} has moved`)
    await revertRef(ref, known.commit)
    return write(given, true)
  }

  /** In our own directory: whatever stands in the place of the ref, or of a folder above it, was put there. */
  async function forward(ref: string, from: string | null, to: string): Promise<boolean> {
    const move = () => moveRef(git.shared, ref, from, to)
    return move().catch(async () => {
      await clearWay(join(git.shared, 'refs'), join(git.shared, ref))
      return move()
    })
  }

  async function moveLocal(state: State, commit: string, withBranch: boolean): Promise<void> {
    const ref = refOf(state.folder)
    known = { ref, commit, green: state.green }
    // Before the first publish there is no branch: whatever ends the run until then leaves the clone as it was.
    // Until the job has looked at the branch, what people committed there is not ours to move.
    if (state.published === null || !(withBranch || state.job.opened)) return
    await moveClone(git, snapshot, state.branch, state.green, [[ref, commit]])
  }

  type Pushed = { kind: 'pushed' } | { kind: 'rejected' | 'unknown-token'; said: string }

  async function push(
    target: Remote,
    refs: readonly { ref: string; from: string | null; to: string }[],
  ): Promise<Pushed> {
    const args = ['push', '--porcelain', '--no-verify', '--no-follow-tags', '--recurse-submodules=no']
    if (refs.length > 1) args.push('--atomic')
    for (const { ref, from } of refs) args.push(`--force-with-lease=${ref}:${from ?? ''}`)
    args.push(target.url, ...refs.map(({ ref, to }) => `${to}:${ref}`))
    let said = ''
    for (let tries = 0; tries <= PAUSES_S.length; tries++) {
      if (tries > 0) await pause(tries)
      const result = await git.onRemote(target, args, { accept: FAILED })
      if (result.code === 0) return { kind: 'pushed' }
      said = `${result.stdout}\n${result.stderr}`.trim()
      if (UNKNOWN_TOKEN.test(result.stderr)) return { kind: 'unknown-token', said }
      if (REFUSED.test(result.stderr)) return { kind: 'rejected', said }
      // The answer may be lost although the push was done: the remote itself is asked before anything is said.
      const now = await remoteRefs(
        target,
        refs.map(({ ref }) => ref),
      ).catch(() => null)
      if (now === null) return { kind: 'rejected', said } // a minute has been given to the question
      const left = refs.filter(({ ref, to }) => now.get(ref) !== to)
      if (left.length === 0) return { kind: 'pushed' }
      // A server that died between the refs has moved some: the rest is pushed alone.
      if (left.length < refs.length && left.every(({ ref, from }) => (now.get(ref) ?? null) === from))
        return push(target, left)
      const moved = refs.some(({ ref, from }) => (now.get(ref) ?? null) !== from)
      if (moved || /^!/m.test(result.stdout)) return { kind: 'rejected', said }
    }
    return { kind: 'rejected', said }
  }

  /** A question to the remote, repeated when the way to it fails. */
  async function ask(target: Remote, args: readonly string[]) {
    for (let tries = 1; ; tries++) {
      const result = await git.onRemote(target, args, { accept: FAILED })
      if (result.code === 0) return result
      const isFinal = UNKNOWN_TOKEN.test(result.stderr) || REFUSED.test(result.stderr)
      if (isFinal || tries > PAUSES_S.length) throw new GitError(args, result.code, result.stderr)
      await pause(tries)
    }
  }

  async function remoteRefs(target: Remote, patterns: readonly string[]): Promise<Map<string, string>> {
    const listed = await ask(target, ['ls-remote', '--refs', target.url, ...patterns])
    return new Map(
      listed.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))] as const),
    )
  }

  /** The remote said no: the local ref goes back to what the remote has. */
  async function revertRef(ref: string, before: string | null): Promise<void> {
    const file = join(git.shared, ref)
    await clearWay(join(git.shared, 'refs'), file)
    // git replaces nothing that is no ref.
    if (readRef(git.shared, ref) === null) await rm(file, { force: true })
    await git.run(before === null ? ['update-ref', '-d', ref] : ['update-ref', ref, before])
  }

  /** The clone holds the states that were published once more: what our own directory lost is taken from there. */
  async function recoverRefs(): Promise<void> {
    const form = '--format=%(refname) %(objectname)'
    const own = await git.line(['for-each-ref', '--format=%(refname)', `${namespace}/`])
    const there = await git.onClone(['for-each-ref', form, `${namespace}/`])
    const known = new Set(own.split('\n'))
    const lost = there.stdout
      .split('\n')
      .filter((line) => line !== '' && !known.has(line.split(' ')[0] ?? ''))
    if (lost.length === 0) return
    await git.run(['update-ref', '--stdin'], { input: lost.map((line) => `create ${line}\n`).join('') })
  }

  async function has(commit: string): Promise<boolean> {
    return (await objects.info(`${commit}^{tree}`)) !== null
  }

  const store: Store = {
    async list() {
      if (remote === null) await recoverRefs()
      const listed =
        remote === null
          ? (await git.run(['for-each-ref', '--format=%(objectname)%09%(refname)', `${namespace}/`])).stdout
          : (await ask(remote, ['ls-remote', '--refs', remote.url, `${namespace}/*`])).stdout
      const found = new Map<string, string>()
      for (const line of listed.split('\n').filter(Boolean)) {
        const [oid = '', ref = ''] = line.split('\t')
        found.set(ref.slice(namespace.length + 1), oid)
      }
      return found
    },

    async load(folder) {
      const ref = refOf(folder)
      if (remote !== null) {
        const at = (await remoteRefs(remote, [ref])).get(ref)
        if (at === undefined) return null
        await store.fetch([at], 'tip')
        await git.run(['update-ref', ref, at])
      }
      const commit = readRef(git.shared, ref)
      if (commit === null) return null
      const text = await objects.text(`${commit}:${STATE_FILE}`)
      if (text === null) throw new Error(`${ref} holds no ${STATE_FILE}`)
      const state = stateFrom(text)
      known = { ref, commit, green: state.green }
      if (remote !== null && !(await has(state.green))) await store.fetch([state.green], 'tip')
      return { state, commit }
    },

    async head(branch) {
      const ref = `refs/heads/${branch}`
      if (remote !== null) return (await remoteRefs(remote, [ref])).get(ref) ?? null
      const found = await git.onClone(['rev-parse', '--verify', '-q', ref], { accept: [1, 128] })
      return found.code === 0 ? found.stdout.trim() : null
    },

    async fetch(wanted, history) {
      if (remote === null) return
      const missing: string[] = []
      for (const oid of wanted) if (!(await has(oid))) missing.push(oid)
      const cut = await shallow()
      if (missing.length === 0 && (history === 'tip' || !cut)) return
      const depth = !cut ? [] : history === 'tip' ? ['--depth=1'] : ['--unshallow']
      const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', ...depth, remote.url, ...wanted]
      await ask(remote, args)
      await shareShallow(git, snapshot)
    },

    save: (state) => save(state, false),

    async publish(state, withBranch) {
      if (remote === null || !withBranch) {
        await save(withBranch ? { ...state, published: state.green } : state, withBranch)
        return { kind: 'published' }
      }
      const ref = refOf(state.folder)
      const branch = `refs/heads/${state.branch}`
      const before = known?.ref === ref ? known.commit : null
      const commit = await write({ ...state, published: state.green })
      const result = await push(options.publishRemote ?? remote, [
        { ref: branch, from: state.published, to: state.green },
        { ref, from: before, to: commit },
      ])
      if (result.kind !== 'pushed') {
        await revertRef(ref, before)
        if (result.kind === 'unknown-token' && options.publishRemote !== null) {
          return {
            kind: 'expired',
            reason: `the publish token is not known any more: ${refusal(result.said, branch)}`,
          }
        }
        const now = await remoteRefs(remote, [branch, ref])
        if ((now.get(ref) ?? null) !== before) throw await whyRejected(state, before, result.said)
        const head = now.get(branch) ?? null
        if (head === null || head === state.published)
          return { kind: 'refused', reason: refusal(result.said, state.branch) }
        await store.fetch([head], 'whole')
        return { kind: 'diverged', theirs: head }
      }
      await moveLocal({ ...state, published: state.green }, commit, true)
      return { kind: 'published' }
    },

    async restore(state) {
      const ref = `refs/heads/${state.branch}`
      if (remote === null) return { kind: 'published' } // the next save moves it
      const result = await push(options.publishRemote ?? remote, [{ ref, from: null, to: state.green }])
      if (result.kind === 'pushed') return { kind: 'published' }
      return { kind: 'refused', reason: refusal(result.said, state.branch) }
    },

    async theirs(state) {
      if (remote === null) {
        if (!firstLook) return null
        firstLook = false
      }
      const head = await store.head(state.branch)
      if (head === null) return state.published === null ? null : 'gone'
      if (head === state.green || head === state.published) return null
      await store.fetch([head], 'whole')
      return { head }
    },
  }
  return store

  async function save(state: State, withBranch: boolean): Promise<void> {
    const before = known?.ref === refOf(state.folder) ? known.commit : null
    const commit = await write(state)
    if (remote !== null) {
      const result = await push(remote, [{ ref: refOf(state.folder), from: before, to: commit }])
      if (result.kind !== 'pushed') {
        await revertRef(refOf(state.folder), before)
        throw await whyRejected(state, before, result.said)
      }
    }
    await moveLocal(state, commit, withBranch)
  }

  async function whyRejected(state: State, before: string | null, said: string): Promise<Error> {
    const ref = refOf(state.folder)
    const now = remote === null ? null : await remoteRefs(remote, [ref]).catch(() => null)
    if (now !== null && (now.get(ref) ?? null) !== before) return new LeaseLost(`${ref} moved`)
    if (REFUSED.test(said) || UNKNOWN_TOKEN.test(said)) {
      const fix = 'give the job permissions: contents: write (and do not protect refs/ralph/*)'
      return new UserError({
        path: 'input token',
        found: refusal(said, ref),
        expected: 'a token that may push',
        fix,
      })
    }
    return new Error(`the state could not be pushed to ${ref}: ${refusal(said, ref)}`)
  }
}

/** What the remote said, in one line; hints and progress left out. */
function refusal(said: string, what: string): string {
  const lines = said.split('\n').map((line) => line.replace(/^remote:\s*/, '').trim())
  const telling = lines.find((line) =>
    /refus|denied|protect|permission|error:|fatal:|declined|403|401/i.test(line),
  )
  return `${what} was not accepted: ${telling ?? lines.find((line) => line !== '') ?? 'no reason was given'}`
}

/** Before the given try; the first is 0. */
function pause(tries: number): Promise<void> {
  return delay((PAUSES_S[tries - 1] ?? 0) * 1000)
}
