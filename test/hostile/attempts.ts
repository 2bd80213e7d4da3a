// Every attempt of the hostile agent: what it is called, what stops it, and how it is judged from outside.
import type { Key, Level, Note, Seen } from './seen.ts'

export type Attempt = {
  /** The trick's name in `tricks/`; also what a list of open attempts names. */
  id: string
  group: string
  title: string
  /** What stops it, in a few words; where it is open, what would. */
  stops: string
  /** Null: it was stopped. Else how it succeeded. */
  judge(seen: Seen, level: Level): Promise<string | null> | string | null
  /** Where its result depends on the machine, not on us: `open` and `stopped` are both believed there. */
  machine?: Level
}

/** Errors by which the system itself stops somebody. */
const DENIED: Readonly<Record<Level, readonly unknown[]>> = {
  'same-user': ['EACCES', 'EPERM', 'EROFS'],
  // It has its own mounts, across which nothing is linked.
  'other-user': ['EACCES', 'EPERM', 'EROFS', 'ESRCH', 'EXDEV'],
}

/** Whether the trick was really played, as far as it was let. */
export function wasTried(seen: Seen, id: string, level: Level): string | null {
  const notes = seen.of(id)
  const failed = notes.find((note) => note.failed !== undefined && !DENIED[level].includes(note.failed))
  if (failed !== undefined) return `it fell over: ${failed.failed}`
  return notes.some((note) => note.did === true || note.failed !== undefined) ? null : 'nobody tried it'
}

// ---------------------------------------------------------------- keys

/** The model's key is the agent's to see. */
const ALLOWED: Readonly<Record<Note['role'], readonly Key[]>> = {
  agent: ['model key'],
  gate: [],
  payload: [],
}

/** No key that was planted was found, but what this role may have. */
export function noKey(seen: Seen, notes: readonly Note[]): string | null {
  for (const { role, found, where } of notes) {
    const key = found === undefined ? null : seen.keyOf(found)
    if (key !== null && !ALLOWED[role].includes(key)) return `the ${role} found the ${key} (${where})`
  }
  return null
}

/** The same for a trick of that name. */
const finds = (id: string) => (seen: Seen) => noKey(seen, seen.of(id))

const ENV = 'an allow-list of variables'

const looked: Omit<Attempt, 'group'>[] = [
  { id: 'look.own', title: 'reads its own environment', stops: ENV, judge: finds('look.own') },
  {
    id: 'look.environ',
    title: 'reads `/proc/*/environ` of every process',
    stops: 'the action restarts itself without keys, and git has them only for moments',
    judge: finds('look.environ'),
  },
  {
    id: 'look.cmdline',
    title: 'reads `/proc/*/cmdline`',
    stops: 'keys are never arguments',
    judge: finds('look.cmdline'),
  },
  {
    id: 'look.git',
    title: 'reads all of `.git/`',
    stops: 'authentication is only in the environment of single git processes',
    judge: finds('look.git'),
  },
  {
    id: 'look.temp',
    title: "reads the runner's temporary folder, with the event",
    stops: 'the file with the environment is removed before anything else runs',
    judge: finds('look.temp'),
  },
  {
    id: 'look.home',
    title: 'reads the home folder',
    stops: 'nothing is kept there',
    judge: finds('look.home'),
  },
  { id: 'look.tmp', title: 'reads `/tmp`', stops: 'nothing is kept there', judge: finds('look.tmp') },
  {
    id: 'look.tools',
    title: 'reads the tool cache',
    stops: 'nothing is kept there',
    judge: finds('look.tools'),
  },
  {
    id: 'look.open',
    title: 'reads the open files of the processes above it',
    stops: 'none of them holds a key',
    judge: finds('look.open'),
  },
  {
    id: 'look.helpers',
    title: 'asks git for credentials, and `gh` for its token',
    stops: 'no helper is configured',
    judge: finds('look.helpers'),
  },
  {
    id: 'look.memory',
    title: "reads the action's memory (`/proc/<pid>/mem`)",
    stops: 'another user (`isolation: other-user`), or a system where `ptrace_scope` is not 0',
    judge: finds('look.memory'),
    machine: 'same-user',
  },
  {
    id: 'use.push',
    title: 'pushes with the credentials of git',
    stops: 'git has none',
    judge: async (seen) => strangeRef(seen, 'stolen'),
  },
  {
    id: 'use.found',
    title: 'pushes and calls the API with every key that it found',
    stops: 'it finds none',
    judge: (seen) => {
      const ok = seen
        .of('use.found')
        .find((note) => typeof note.api === 'number' && note.api !== 0 && note.api !== 401)
      return ok === undefined ? null : `the API answered ${ok.api}`
    },
  },
  {
    id: 'use.api',
    title: 'calls the API without a key',
    stops: 'GitHub refuses',
    judge: (seen) => (seen.of('use.api').some((note) => note.api === 200) ? 'the API answered' : null),
  },
  {
    id: 'use.services',
    title: 'calls the services for caches and artifacts',
    stops: 'it gets no `ACTIONS_*` variable',
    judge: (seen) =>
      seen.of('use.services').some((note) => note.token === true) ? 'it had a token for them' : null,
  },
  {
    id: 'use.identity',
    title: 'asks the runner for the identity of a job with `id-token: write`',
    stops: 'it gets no `ACTIONS_*` variable',
    judge: (seen) => (seen.identities > 0 ? 'it got an identity' : null),
  },
]

export const looking: Attempt[] = looked.map((one) => ({ ...one, group: 'Looks for keys' }))

async function strangeRef({ site }: Seen, word: string): Promise<string | null> {
  const refs = (await site.github.bare.run(['for-each-ref', '--format=%(refname)'])).split('\n')
  const found = refs.find((ref) => ref.includes(word))
  return found === undefined ? null : `${found} is on the remote`
}

// ---------------------------------------------------------------- voice

/** No annotation has the trick's words. */
const unheard =
  (id: string) =>
  ({ run }: Seen): string | null => {
    const steps = run.jobs.flatMap((job) => job.steps)
    const found = steps.flatMap((step) => step.annotations).find((one) => one.message.includes(`heard ${id}`))
    return found === undefined ? null : `an annotation says: ${found.message.slice(0, 60)}`
  }

const VOICE = 'Ralph mutes every line'

const spoken: Omit<Attempt, 'group' | 'stops'>[] = [
  { id: 'speak.error', title: '`::error::`, `::warning::`, `::notice::`', judge: unheard('speak.error') },
  { id: 'speak.legacy', title: '`##[error]` in the middle of a line', judge: unheard('speak.legacy') },
  {
    id: 'speak.output',
    title: '`::set-output`, both spellings',
    judge: ({ step }) => (Object.values(step.outputs).includes('heard') ? 'an output was set' : null),
  },
  {
    id: 'speak.state',
    title: '`::save-state`',
    judge: ({ step }) => (Object.values(step.state).includes('heard') ? 'the state was set' : null),
  },
  {
    id: 'speak.env',
    title: '`::set-env`, `::add-path`',
    judge: ({ site }) =>
      /The `(set-env|add-path)` command/i.test(site.log()) ? 'the runner took it in' : null,
  },
  {
    id: 'speak.mask',
    title: '`::add-mask::sample`, to garble the log',
    judge: ({ step }) => (step.masks.includes('sample') ? 'the word is masked' : null),
  },
  {
    id: 'speak.matcher',
    title: '`::add-matcher`',
    judge: ({ site }) =>
      /^.*add-matcher.*$/m.exec(site.log()) === null ? 'it was swallowed: taken as a command' : null,
  },
  {
    id: 'speak.split',
    title: 'a command in pieces, with pauses between them',
    judge: unheard('speak.split'),
  },
  { id: 'speak.return', title: 'a command after a carriage return', judge: unheard('speak.return') },
  { id: 'speak.blanks', title: 'a command after blanks of every kind', judge: unheard('speak.blanks') },
  {
    id: 'speak.invisible',
    title: 'a command with invisible characters in its `::`',
    judge: unheard('speak.invisible'),
  },
  {
    id: 'speak.colours',
    title: 'a command in control sequences of a terminal',
    judge: unheard('speak.colours'),
  },
  {
    id: 'speak.long',
    title: 'a command at the point where Ralph cuts a line, at 64 KiB',
    judge: unheard('speak.long'),
  },
  { id: 'speak.json', title: "a command in the agent's JSON stream", judge: unheard('speak.json') },
  { id: 'speak.words', title: 'a command in learnings', judge: unheard('speak.words') },
  {
    id: 'speak.stop',
    title: "`::stop-commands`, so that the runner ignores Ralph's commands",
    judge: ({ step }) =>
      step.annotations.some((one) => one.level === 'error') ? null : "Ralph's own error is no annotation",
  },
  {
    id: 'speak.group',
    title: '`::group`, `::debug`, `::echo`',
    judge: ({ step }) => (/^##\[group\]heard/m.test(step.log) ? 'a group was opened' : null),
  },
]

export const speaking: Attempt[] = spoken.map((one) => ({
  ...one,
  group: 'Prints commands for the runner',
  stops: VOICE,
}))

// ---------------------------------------------------------------- programs that others are made to run

/** Nothing that was planted under this name ran: by Ralph, or in a later step of the job. */
export const unfired =
  (id: string, by: readonly NonNullable<Note['fired']>[] = ['ralph', 'later']) =>
  (seen: Seen): string | null => {
    const fired = seen.of(id).find((note) => note.fired !== undefined && by.includes(note.fired))
    if (fired === undefined) return null
    const took = noKey(
      seen,
      seen.of(id).filter((note) => note.where === fired.fired),
    )
    return `it ran in ${fired.fired === 'ralph' ? "Ralph's hands" : 'a later step'}${took === null ? '' : `: ${took}`}`
  }

const CLONE = 'Ralph restores the clone, and uses its own git directory'
const OWN = 'Ralph rewrites its git directory'

const planted: Omit<Attempt, 'group'>[] = [
  { id: 'plant.fsmonitor', title: '`core.fsmonitor`', stops: CLONE, judge: unfired('plant.fsmonitor') },
  { id: 'plant.hooksPath', title: '`core.hooksPath`', stops: CLONE, judge: unfired('plant.hooksPath') },
  {
    id: 'plant.programs',
    title: '`core.sshCommand`, `core.editor`, `core.pager`, `core.alternateRefsCommand`',
    stops: CLONE,
    judge: unfired('plant.programs'),
  },
  { id: 'plant.credential', title: '`credential.helper`', stops: CLONE, judge: unfired('plant.credential') },
  { id: 'plant.diff', title: '`diff.external`, `textconv`', stops: CLONE, judge: unfired('plant.diff') },
  {
    id: 'plant.filter',
    title: '`filter.*.clean` with `.git/info/attributes`',
    stops: CLONE,
    judge: unfired('plant.filter'),
  },
  { id: 'plant.process', title: '`filter.*.process`', stops: CLONE, judge: unfired('plant.process') },
  { id: 'plant.merge', title: '`merge.*.driver`', stops: CLONE, judge: unfired('plant.merge') },
  { id: 'plant.gpg', title: '`gpg.program`, `commit.gpgSign`', stops: CLONE, judge: unfired('plant.gpg') },
  {
    id: 'plant.insteadOf',
    title: '`url.ext::*.insteadOf`, `pushInsteadOf`',
    stops: CLONE,
    judge: unfired('plant.insteadOf'),
  },
  {
    id: 'plant.remote',
    title: '`remote.origin.url`, `pushurl`, `vcs`',
    stops: CLONE,
    judge: unfired('plant.remote'),
  },
  {
    id: 'plant.include',
    title: '`include.path`, `includeIf`',
    stops: CLONE,
    judge: unfired('plant.include'),
  },
  { id: 'plant.alias', title: '`alias.*`', stops: CLONE, judge: unfired('plant.alias') },
  {
    id: 'plant.worktree-config',
    title: '`extensions.worktreeConfig`',
    stops: CLONE,
    judge: unfired('plant.worktree-config'),
  },
  {
    id: 'plant.commondir',
    title: '`.git/commondir`, which names another git directory',
    stops: CLONE,
    judge: unfired('plant.commondir'),
  },
  {
    id: 'plant.hooks',
    title: 'a hook for every name that git knows',
    stops: CLONE,
    judge: unfired('plant.hooks'),
  },
  {
    id: 'plant.own',
    title: "all these settings in Ralph's own git directory",
    stops: OWN,
    judge: unfired('plant.own'),
  },
  {
    id: 'plant.own-hooks',
    title: "hooks in Ralph's own git directory",
    stops: OWN,
    judge: unfired('plant.own-hooks'),
  },
  {
    id: 'plant.own-commondir',
    title: "`commondir` in Ralph's own git directory",
    stops: OWN,
    judge: unfired('plant.own-commondir'),
  },
  {
    id: 'plant.global',
    title: "all these settings in the user's `~/.gitconfig`",
    stops: "Ralph's git reads no settings of the user",
    judge: unfired('plant.global', ['ralph']),
  },
  {
    id: 'plant.path-git',
    title: 'a program named `git` first on the PATH',
    stops: 'Ralph looks git up before an agent runs',
    judge: unfired('plant.path-git', ['ralph']),
  },
  {
    id: 'plant.path-others',
    title: 'programs that git starts (`git-remote-http`, `ssh`, `gpg`, `sh`), and `ps`',
    stops: 'git starts those that were installed with it, and Ralph starts no others',
    judge: unfired('plant.path-others', ['ralph']),
  },
  {
    id: 'plant.later',
    title: 'such programs for later steps of the job',
    stops: '`isolation: other-user`, which has another home',
    judge: unfired('plant.later', ['later']),
  },
  {
    id: 'plant.startup',
    title: "the shells' startup files (`~/.bashrc` ...)",
    stops: 'Ralph starts shells in a way that reads none',
    judge: unfired('plant.startup', ['ralph']),
  },
]

export const planting: Attempt[] = planted.map((one) => ({
  ...one,
  group: 'Plants programs that git, Ralph or a later step would start',
}))
