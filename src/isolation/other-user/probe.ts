// Tests every promise of `isolation: other-user`, as that user, before any agent runs.
import { existsSync, realpathSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../../system/errors.ts'
import { SYSTEM_PATH } from '../../system/program-user.ts'
import { shellWord } from '../../system/shell-word.ts'
import type { Account } from './account.ts'
import { type Fault, runForOutput } from './root.ts'

type Env = Readonly<Record<string, string | undefined>>

export type ProbeOptions = {
  env: Env
  workTree: string
  gitDir: string
}
/** Runs a script as the user and returns what it prints. */
type RunAsUser = (script: string) => Promise<string>

/** Files in the home folder of the runner's user that often hold keys. */
const KEY_FILES = [
  '.netrc',
  '.git-credentials',
  '.npmrc',
  '.docker/config.json',
  '.ssh/id_rsa',
  '.ssh/id_ed25519',
]

/** Write access to one of these is as good as root. */
const SOCKETS = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/podman/podman.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
]
/** Folders of installed tools in the home of the runner's user, by the variable that names them. The other user may read them as well. */
const INSTALLED_TOOLS: Readonly<Record<string, string>> = {
  RUSTUP_HOME: '.rustup',
  PLAYWRIGHT_BROWSERS_PATH: '.cache/ms-playwright',
}

/** The promises that do not hold. No agent may run unless this is empty. */
export async function probe(options: ProbeOptions, account: Account, runAsUser: RunAsUser): Promise<Fault[]> {
  let printed: string
  try {
    printed = await runAsUser(probeScript(options, account))
  } catch (error) {
    const fix = 'install util-linux (setpriv) and bash, or use isolation: separate-job'
    return [{ found: `Ralph cannot run programs as ${account.name}: ${messageOf(error)}`, expected: '', fix }]
  }
  const foldersInTree = pathInTree(options).map((folder) => `path ${folder}`)
  const lines = new Set([...foldersInTree, ...printed.split('\n').filter(Boolean)])
  return [...lines].map((line) => describeFault(line, options, account.name))
}

/** A script that tests one promise in each line. For a promise that does not hold it prints a word (see FAULT_TEXTS). */
function probeScript(options: ProbeOptions, { uid }: Account): string {
  const { env, workTree, gitDir } = options
  const temp = env.RUNNER_TEMP
  const git = shellWord(join(workTree, '.git'))
  const file = shellWord(join(workTree, '.ralph-probe'))
  return [
    `[ "$(id -u)" = ${uid} ] || echo user`,
    `[ "$(id -G)" = "$(id -g)" ] || echo groups`,
    'grep -q "^NoNewPrivs:[[:space:]]*1" /proc/self/status || echo privileges',
    'grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status || echo privileges',
    'sudo -n true 2>/dev/null && echo sudo',
    ...laterScript(env),
    ...programFolders(options).map(
      (folder) => `[ -w ${shellWord(folder)} ] && echo folder ${shellWord(folder)}`,
    ),
    ...KEY_FILES.map((name) => shellWord(join(env.HOME ?? '/root', name))).map(
      (file) => `[ -r ${file} ] && echo key ${file}`,
    ),
    ...SOCKETS.map((socket) => `[ -w ${socket} ] && echo socket ${socket}`),
    `cat /proc/${process.pid}/environ >/dev/null 2>&1 && echo memory`,
    `{ touch ${file} && rm ${file}; } 2>/dev/null || echo tree`,
    `[ -w ${shellWord(gitDir)} ] && echo git`,
    `mv ${git} ${git}-moved 2>/dev/null && mv ${git}-moved ${git} && echo git`,
    ...(temp === undefined ? [] : [`ls ${shellWord(temp)} >/dev/null 2>&1 && echo temp`]),
    'true',
  ].join('\n')
}

/** `detail`: what the probe prints after the word, such as a path. */
type FaultContext = { detail: string; name: string; workTree: string; temp: string | undefined }
type FaultText = (context: FaultContext) => [found: string, fix: string]

/** By the word that the probe prints: what is wrong, and how to fix it. */
const FAULT_TEXTS: Readonly<Record<string, FaultText>> = {
  sudo: ({ name }) => [
    `the agent's user ${name} can use sudo.`,
    'remove this user, or the rule for ALL users, from sudoers',
  ],
  socket: ({ detail }) => [
    `every user can write to ${detail}, which gives root rights.`,
    `run \`chmod o-w ${detail}\` in a step before this one`,
  ],
  folder: ({ detail }) => [
    `every user can write to ${detail}, which has programs that the job runs.`,
    `run \`chmod o-w ${detail}\` in a step before this one`,
  ],
  later: ({ detail, name }) => [
    `the agent's user ${name} can change ${detail}, which later steps run with tokens.`,
    `run \`chmod -R o-w ${detail}\` in a step before this one. If it is an action in the checkout (uses: ./), name its repository instead`,
  ],
  path: ({ detail }) => [
    `${detail} is on the PATH, but is in the checkout, which the agent can change.`,
    'take it off the PATH. A gate can name such a program by its path',
  ],
  key: ({ detail, name }) => [
    `the agent's user ${name} can read ${detail}.`,
    `run \`chmod o-r ${detail}\`, or remove the file, in a step before this one`,
  ],
  tree: ({ name, workTree }) => [
    `the agent's user ${name} cannot write to ${workTree}.`,
    'check out to a local file system that supports file owners and modes',
  ],
  git: ({ name }) => [
    `the agent's user ${name} can change .git.`,
    'check out again, so that only the user of the runner can change .git',
  ],
  temp: ({ name, temp }) => [
    `the agent's user ${name} can read ${temp}.`,
    'let only the user of the runner read this folder (chown and chmod 700)',
  ],
  memory: ({ name }) => [
    `the agent's user ${name} can read the environment of Ralph's process in /proc.`,
    USE_OTHER_RUNNER,
  ],
}
const USE_OTHER_RUNNER = 'use a GitHub-hosted runner, or isolation: separate-job'

function describeFault(line: string, { workTree, env }: ProbeOptions, name: string): Fault {
  const [word = ''] = line.split(' ')
  const context = { detail: line.slice(word.length + 1), name, workTree, temp: env.RUNNER_TEMP }
  const [found, fix] = FAULT_TEXTS[word]?.(context) ?? [
    `the agent's user ${name} has rights that it should not have: ${line}.`,
    USE_OTHER_RUNNER,
  ]
  return { found, expected: '', fix }
}

function pathFolders(env: Env): string[] {
  return (env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'))
}

/**
 * The folders of PATH that are in the checkout. A program that the agent puts there would run instead of the one that a gate names. If
 * git ignores the folder, no diff would show it.
 */
function pathInTree({ env, workTree }: ProbeOptions): string[] {
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path))
  return pathFolders(env).filter((folder) => isWithin(real(folder), [real(workTree)]))
}

/** Folders of programs that other users run. The agent must not write there. */
function programFolders(options: ProbeOptions): string[] {
  const { env } = options
  const inTree = pathInTree(options)
  const ofPath = pathFolders(env).filter((folder) => !inTree.includes(folder))
  const toolCache = env.RUNNER_TOOL_CACHE === undefined ? [] : [env.RUNNER_TOOL_CACHE]
  const usual = ['/usr/local/bin', '/usr/share', '/opt', '/etc']
  return [...new Set([...SYSTEM_PATH.split(':'), ...ofPath, ...toolCache, ...usual])]
}

/** The folders of INSTALLED_TOOLS that the user can read, by variable. */
export async function readableTools(
  { env }: ProbeOptions,
  runAsUser: RunAsUser,
): Promise<Record<string, string>> {
  const home = env.HOME ?? '/nowhere'
  const existing = Object.entries(INSTALLED_TOOLS)
    .map(([variable, path]) => [variable, join(home, path)] as const)
    .filter(([, folder]) => existsSync(folder))
  if (existing.length === 0) return {}
  const commands = existing.map(
    ([, folder]) => `ls ${shellWord(folder)} >/dev/null 2>&1 && echo ${shellWord(folder)}`,
  )
  const printed = (await runAsUser(`${commands.join('\n')}\ntrue`)).split('\n')
  return Object.fromEntries(existing.filter(([, folder]) => printed.includes(folder)))
}

export function isWithin(path: string, folders: readonly (string | undefined)[]): boolean {
  return folders.some((folder) => folder !== undefined && `${path}/`.startsWith(`${folder}/`))
}

// ---------------------------------------------------------------- what runs after Ralph

// After Ralph the runner starts other programs with tokens in the environment: later steps and post steps of other actions, and this
// action's post step. An agent that could write to one of them would get the tokens, and the job would stay green.

/** The folder in which the runner keeps the actions of a job; null outside of a job. */
export function actionsFolder({ RUNNER_WORKSPACE }: Env): string | null {
  const folder = RUNNER_WORKSPACE === undefined ? null : join(dirname(RUNNER_WORKSPACE), '_actions')
  return folder !== null && existsSync(folder) ? folder : null
}

/**
 * Closes the folder of actions to other users if something in it is world-writable. Returns its former mode, or null if it stays unchanged.
 */
export async function closeActions(env: Env): Promise<[path: string, mode: number] | null> {
  const folder = actionsFolder(env)
  if (folder === null) return null
  const isWorldWritable = ['!', '-type', 'l', '-perm', '-0002', '-print', '-quit']
  if ((await runForOutput({ file: 'find', args: [folder, ...isWorldWritable] }, '')) === '') return null
  const { mode } = await stat(folder)
  // If another user owns the folder, this fails, and the probe reports it.
  await chmod(folder, mode & 0o770).catch(() => {})
  return [folder, mode & 0o7777]
}

/** Lines for a script that runs as the user. They print `later` and the path of each such program that the user can change or replace. */
export function laterScript(env: Env): string[] {
  const [, program = process.execPath] = process.argv
  const folders = [actionsFolder(env), dirname(dirname(program))].filter((folder) => folder !== null)
  const programs = [...folders, process.execPath]
  const parents = new Set(['/', ...programs.flatMap(parentFolders)])
  return [
    `find ${programs.map(shellWord).join(' ')} ! -type l -print0 2>/dev/null |`,
    `while IFS= read -r -d '' at; do [ -w "$at" ] && { printf 'later %s\\n' "$at"; break; }; done`,
    // In a folder with the sticky bit, other users cannot replace an entry.
    ...[...parents]
      .map(shellWord)
      .map((folder) => `[ -w ${folder} ] && [ ! -k ${folder} ] && echo later ${folder}`),
  ]
}

/** The parent folders of a path, the nearest first, without the root. */
export function parentFolders(path: string): string[] {
  const parent = dirname(path)
  const isRoot = parent === dirname(parent)
  return isRoot ? [] : [parent, ...parentFolders(parent)]
}
