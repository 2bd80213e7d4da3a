// The home folder of a session. It is made for the session and removed after it, so that nothing in it reaches the next session or a
// judge.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { asObject, type Json, jsonObject } from '../engine/model/json.ts'
import type { OtherUser } from '../isolation/other-user.ts'
import { openScratch, temporaryVariables } from '../isolation/scratch.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import { readRegularFile, readRegularFileSync, replaceFile } from '../system/files.ts'
import { removeFolder } from '../system/orphans.ts'
import { processStart } from '../system/process-table.ts'
import type { HomeShare } from './agent.ts'

type SessionHome = AsyncDisposable & {
  /** The environment with this home and its temporary folder, without variables that lead to another home. */
  env(env: Environment): Environment
  /** The user that programs with this home run as; null for our own. */
  as: OtherUser | null
}

export type Homes = { open(): Promise<SessionHome> }

export type HomesOptions = {
  shares: readonly HomeShare[]
  /** What sessions of any agent get: a killed run may have left a home of another agent. Left out: `shares`. */
  everyShare?: readonly HomeShare[]
  /** Names the person's home, and the folders that variables move elsewhere. */
  env: Environment
  /** For commits that an agent, or a test that it runs, makes in a repository. */
  identity: { name: string; email: string }
  /** Identifies the homes of this checkout, or of this lane: no other run opens homes with the same key at the same time. */
  key: string
  as: OtherUser | null
}

/** A file of the person's home. `path`: in a session's home; `from`: the person's file; `isRenewed`: the vendor renews tokens in it. */
type SharedFile = { path: string; from: string; bytes: Buffer; isRenewed: boolean }

const XDG_FOLDERS: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
  XDG_CACHE_HOME: '.cache',
}

/** Folders in the person's home where tools keep what they installed. A session sees them as well, as gates do. */
const TOOL_FOLDERS: Readonly<Record<string, string>> = {
  ASDF_DATA_DIR: '.asdf',
  BUN_INSTALL: '.bun',
  CARGO_HOME: '.cargo',
  COREPACK_HOME: '.cache/node/corepack',
  CYPRESS_CACHE_FOLDER: '.cache/Cypress',
  DENO_DIR: '.cache/deno',
  GOCACHE: '.cache/go-build',
  GOPATH: 'go',
  GRADLE_USER_HOME: '.gradle',
  MISE_DATA_DIR: '.local/share/mise',
  NPM_CONFIG_CACHE: '.npm',
  NUGET_PACKAGES: '.nuget/packages',
  NVM_DIR: '.nvm',
  PIP_CACHE_DIR: '.cache/pip',
  PLAYWRIGHT_BROWSERS_PATH: '.cache/ms-playwright',
  PNPM_HOME: '.local/share/pnpm',
  PYENV_ROOT: '.pyenv',
  PYTHONUSERBASE: '.local',
  RBENV_ROOT: '.rbenv',
  RUSTUP_HOME: '.rustup',
  SDKMAN_DIR: '.sdkman',
  UV_CACHE_DIR: '.cache/uv',
  UV_PYTHON_INSTALL_DIR: '.local/share/uv/python',
  VOLTA_HOME: '.volta',
}

/** macOS looks below HOME for the keychain, which holds logins. */
const KEYCHAIN = ['Library/Keychains', 'Library/Preferences/com.apple.security.plist']

/** Limits of a login: files of one folder, bytes of one file. */
const MAX_FILES = 100
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Reads the shared files before any session runs, so that a session cannot change what another one gets from the person's home.
 * Only a login that the vendor renews is read again for each session: another lane, or the person, may have renewed it.
 */
export async function openHomes(options: HomesOptions): Promise<Homes> {
  const { env, as, shares } = options
  const variables = shares.flatMap(({ folderVariable }) => folderVariable?.[0] ?? [])
  const movingVariables = new Set([...Object.keys(XDG_FOLDERS), ...variables])
  const envIn = (env: Environment, path: string, tools: Environment): Environment => {
    const kept = Object.entries(env).filter(([name]) => !movingVariables.has(name))
    return { ...tools, ...Object.fromEntries(kept), HOME: path }
  }
  if (as !== null) {
    const open = async () => {
      const scratch = await openScratch(as, { home: true })
      const close = () => scratch[Symbol.asyncDispose]()
      const env = (sessionEnv: Environment) => scratch.env(envIn(sessionEnv, scratch.home ?? '', {}))
      return { env, as: scratch.as, [Symbol.asyncDispose]: close }
    }
    return { open }
  }
  const personHome = personHomeOf(env)
  const tools = personHome === null ? {} : toolsIn(personHome, env)
  const prefix = await removeLeftHomes(options, personHome)
  const shared = personHome === null ? [] : await readShares(personHome, shares, env)
  return {
    async open() {
      const path = await mkdtemp(join(tmpdir(), prefix))
      for (const file of shared) takeRenewedLogin(file)
      await fillHome(path, personHome, shared, options.identity)
      const tmp = join(path, 'tmp')
      await mkdir(tmp)
      return {
        as: null,
        env: (sessionEnv) => ({ ...envIn(sessionEnv, path, tools), ...temporaryVariables(tmp) }),
        async [Symbol.asyncDispose]() {
          for (const file of shared) await saveRenewedLogin(path, file)
          await removeFolder(path)
        },
      }
    },
  }
}

const personHomeOf = ({ HOME }: Environment): string | null =>
  HOME !== undefined && isAbsolute(HOME) ? HOME : null

/** Removes the homes that a killed process left on this machine, without opening any. `shares`: of every agent. */
export async function removeLostHomes(env: Environment, shares: readonly HomeShare[]): Promise<void> {
  await removeLeftHomes({ key: '', env, shares }, personHomeOf(env))
}

/**
 * Removes the homes that killed runs of this person left, in every lane and checkout: each has a copy of the login. If a session had
 * renewed a login there, its old tokens are invalid, so the newest one is saved first. Returns how names of new homes begin.
 */
async function removeLeftHomes(
  { key, env, shares, everyShare = shares }: Pick<HomesOptions, 'key' | 'env' | 'shares' | 'everyShare'>,
  personHome: string | null,
): Promise<string> {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const place = hash(key).slice(0, 6)
  const person = hash(personHome ?? '').slice(0, 4)
  // Short, as some systems allow no socket at a path of more than about 100 characters.
  const ownerOf = async (pid: number) => {
    const start = await processStart(pid)
    return start === null ? null : `${pid.toString(36)}.${hash(start).slice(0, 4)}`
  }
  const left: string[] = []
  for (const name of await readdir(tmpdir())) {
    const found = /^ralph-home-(\w{6})(\w{4})-((\w+)\.\w{4})-/.exec(name)
    if (found?.[2] !== person) continue
    const isOver = found[1] === place || (await ownerOf(Number.parseInt(found[4] ?? '', 36))) !== found[3]
    if (isOver) left.push(join(tmpdir(), name))
  }
  if (left.length > 0 && personHome !== null)
    for (const file of await readShares(personHome, everyShare, env)) await saveNewestLogin(left, file)
  for (const home of left) await removeFolder(home)
  return `ralph-home-${place}${person}-${await ownerOf(process.pid)}-`
}

/** Saves the newest login in these homes if it is a renewal of the person's, and newer. */
async function saveNewestLogin(homes: readonly string[], file: SharedFile): Promise<void> {
  if (!file.isRenewed) return
  const timeOf = async (path: string) => (await stat(path).catch(() => null))?.mtimeMs ?? 0
  const oldest = await timeOf(file.from)
  const candidates = await Promise.all(
    homes.map(async (home) => ({
      home,
      time: await timeOf(join(home, file.path)),
      bytes: await readRegularFile(join(home, file.path)),
    })),
  )
  const renewals = candidates.filter(
    ({ time, bytes }) =>
      time > oldest && bytes !== null && !bytes.equals(file.bytes) && isRenewal(file.bytes, bytes),
  )
  const [newest] = renewals.sort((one, other) => other.time - one.time)
  if (newest !== undefined) await saveRenewedLogin(newest.home, file)
}

/** The file with a login whose refresh token can be used only once; null if sessions have no such login. */
export function findSingleUseLogin(
  { renewedFiles = [], hasSingleUseTokens, folderVariable }: HomeShare,
  env: Environment,
) {
  const home = env.HOME ?? ''
  if (hasSingleUseTokens !== true || !isAbsolute(home)) return null
  const files = renewedFiles.map((path) => resolveInHome(path, home, env, folderVariable))
  const hasRefreshToken = (file: string) =>
    /"refresh\w*"\s*:\s*"[^"]/i.test(readRegularFileSync(file, MAX_BYTES)?.toString('utf8') ?? '')
  return files.find(hasRefreshToken) ?? null
}

/** The variables of the tools that are installed in a person's home. */
function toolsIn(home: string, env: Environment): Environment {
  const found = Object.entries(TOOL_FOLDERS).map(
    ([name, path]) => [name, resolveInHome(path, home, env)] as const,
  )
  return Object.fromEntries(found.filter(([, folder]) => existsSync(folder)))
}

async function readShares(
  home: string,
  shares: readonly HomeShare[],
  env: Environment,
): Promise<SharedFile[]> {
  const found = new Map<string, SharedFile>()
  for (const { files, onlyKeys = {}, renewedFiles = [], folderVariable } of shares) {
    for (const file of files) {
      // People keep their settings in a repository, and link to it.
      const realPath = await realpath(resolveInHome(file, home, env, folderVariable)).catch(() => null)
      if (realPath === null) continue
      for (const from of await filesAt(realPath)) {
        const path = join(file, relative(realPath, from))
        const bytes = loginPart(await readRegularFile(from), onlyKeys[file])
        if (bytes !== null) found.set(path, { path, from, bytes, isRenewed: renewedFiles.includes(path) })
      }
    }
  }
  return [...found.values()]
}

/** The real place of a path below HOME, since variables may name other places. */
function resolveInHome(
  path: string,
  home: string,
  env: Environment,
  folderVariable?: HomeShare['folderVariable'],
): string {
  const [variable, start] = folderVariable ?? ['', '']
  const namedFolder = env[variable] ?? ''
  if (namedFolder !== '' && path.startsWith(start)) return join(namedFolder, basename(path))
  for (const [name, usualFolder] of Object.entries(XDG_FOLDERS)) {
    const folder = env[name] ?? ''
    if (folder !== '' && path.startsWith(`${usualFolder}/`))
      return join(folder, path.slice(usualFolder.length + 1))
  }
  return join(home, path)
}

/** The file itself, or the files of a folder, within the limits. */
async function filesAt(path: string): Promise<string[]> {
  const stats = await stat(path)
  if (!stats.isDirectory()) return stats.size <= MAX_BYTES ? [path] : []
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).slice(0, MAX_FILES)
  return files.map((file) => join(file.parentPath, file.name))
}

/** Only these keys of a JSON file; without `keys` the whole file. Null if there is none of them. */
function loginPart(bytes: Buffer | null, keys: readonly string[] | undefined): Buffer | null {
  if (bytes === null || keys === undefined) return bytes
  const json = jsonObject(bytes.toString('utf8'))
  if (json === null) return null
  const loginEntries = Object.entries(json).filter(([key]) => keys.includes(key))
  return loginEntries.length === 0 ? null : Buffer.from(JSON.stringify(Object.fromEntries(loginEntries)))
}

type Identity = HomesOptions['identity']

async function fillHome(
  path: string,
  personHome: string | null,
  shared: readonly SharedFile[],
  { name, email }: Identity,
) {
  const user = `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`
  // In a container another user may own the checkout.
  await writeFile(join(path, '.gitconfig'), `${user}[safe]\n\tdirectory = *\n`)
  for (const file of shared) {
    const target = join(path, file.path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, file.bytes, { mode: 0o600 })
  }
  if (process.platform !== 'darwin' || personHome === null) return
  for (const name of KEYCHAIN) {
    if (!existsSync(join(personHome, name))) continue
    await mkdir(dirname(join(path, name)), { recursive: true })
    await symlink(join(personHome, name), join(path, name))
  }
}

/** A text, quoted for git's configuration. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/[\n\r\0]/g, ' ')}"`
}

/**
 * Saves renewed tokens: if they were discarded, the person's login would become invalid as well. Only values of existing keys are
 * saved, and never over a file that was changed meanwhile.
 */
async function saveRenewedLogin(home: string, file: SharedFile): Promise<void> {
  if (!file.isRenewed) return
  const renewed = await readRegularFile(join(home, file.path))
  if (renewed === null || renewed.equals(file.bytes)) return
  if (!isRenewal(file.bytes, renewed)) return
  const current = await readFile(file.from).catch(() => null)
  if (current === null || !current.equals(file.bytes)) return
  const isWritten = await replaceFile(file.from, renewed, 0o600).then(
    () => true,
    () => false,
  )
  if (isWritten) file.bytes = renewed
}

/** Takes the newest values of the person's own file, unless the file has other keys now. */
function takeRenewedLogin(file: SharedFile): void {
  if (!file.isRenewed) return
  const current = readRegularFileSync(file.from, MAX_BYTES)
  if (current !== null && isRenewal(file.bytes, current)) file.bytes = current
}

/** Whether two JSON files have the same keys, and differ only in texts and numbers. */
function isRenewal(before: Buffer, after: Buffer): boolean {
  const oldJson = jsonObject(before.toString('utf8'))
  const newJson = jsonObject(after.toString('utf8'))
  return oldJson !== null && newJson !== null && hasSameShape(oldJson, newJson)
}

function hasSameShape(before: Json, after: Json): boolean {
  const keys = Object.keys(after)
  if (keys.length !== Object.keys(before).length) return false
  return keys.every((key) => {
    const oldValue = before[key]
    const newValue = after[key]
    const oldObject = asObject(oldValue)
    const newObject = asObject(newValue)
    if (oldObject !== null && newObject !== null) return hasSameShape(oldObject, newObject)
    const mayChange = typeof oldValue === 'string' || typeof oldValue === 'number'
    return mayChange
      ? typeof oldValue === typeof newValue
      : JSON.stringify(oldValue) === JSON.stringify(newValue)
  })
}
