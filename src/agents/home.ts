// The home folder of a session: made for it and thrown away with it, so that nothing in it reaches the next one, or a judge.

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
import type { HomeShare } from './agent.ts'

type SessionHome = AsyncDisposable & {
  /** The environment with this home and its temporary folder, without variables that lead to another home. */
  env(env: Environment): Environment
  /** The user whose programs see it; null for our own. */
  as: OtherUser | null
}

export type Homes = { open(): Promise<SessionHome> }

export type HomesOptions = {
  shares: readonly HomeShare[]
  /** Names the person's home, and other places for what is in it. */
  env: Environment
  /** For commits that an agent, or a test that it runs, makes in a repository. */
  identity: { name: string; email: string }
  /** Distinguishes the homes of this checkout, so that those that a killed run left can be removed. */
  key: string
  as: OtherUser | null
}

/** A file of the person's home: `path` in a session's home, `from` where it is, and whether the vendor renews tokens in it. */
type SharedFile = { path: string; from: string; bytes: Buffer; isRenewed: boolean }

const XDG_FOLDERS: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
  XDG_CACHE_HOME: '.cache',
}

/** Folders in the person's home where tools keep what they installed. A session sees them, too, as gates do. */
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

/** macOS looks for the keychain, where logins are, below HOME. */
const KEYCHAIN = ['Library/Keychains', 'Library/Preferences/com.apple.security.plist']

/** Limits of a login: files of one folder, bytes of one file. */
const MAX_FILES = 100
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Reads the shared files before any session runs, so that what a session writes into the person's home reaches no other. Of a login
 * that the vendor renews, each session gets the newest values: another lane, or the person, may have renewed it.
 */
export async function openHomes(options: HomesOptions): Promise<Homes> {
  const { env, as, shares } = options
  const variables = shares.flatMap(({ folderVariable }) => folderVariable?.[0] ?? [])
  const foreign = new Set([...Object.keys(XDG_FOLDERS), ...variables])
  const envIn = (env: Environment, path: string, tools: Environment): Environment => {
    const kept = Object.entries(env).filter(([name]) => !foreign.has(name))
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
  const prefix = `ralph-home-${createHash('sha256').update(options.key).digest('hex').slice(0, 8)}-`
  for (const name of await readdir(tmpdir()))
    if (name.startsWith(prefix)) await removeFolder(join(tmpdir(), name))
  const personHome = env.HOME !== undefined && isAbsolute(env.HOME) ? env.HOME : null
  const tools = personHome === null ? {} : toolsIn(personHome, env)
  const shared = personHome === null ? [] : await readShares(personHome, options)
  return {
    async open() {
      const path = await mkdtemp(join(tmpdir(), prefix))
      for (const one of shared) takeRenewedLogin(one)
      await fillHome(path, personHome, shared, options.identity)
      const tmp = join(path, 'tmp')
      await mkdir(tmp)
      return {
        as: null,
        env: (sessionEnv) => ({ ...envIn(sessionEnv, path, tools), ...temporaryVariables(tmp) }),
        async [Symbol.asyncDispose]() {
          for (const one of shared) await saveRenewedLogin(path, one)
          await removeFolder(path)
        },
      }
    },
  }
}

/** The file with a login whose refresh token can be used only once; null where sessions have no such login. */
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

function toolsIn(home: string, env: Environment): Environment {
  const found = Object.entries(TOOL_FOLDERS).map(
    ([name, path]) => [name, resolveInHome(path, home, env)] as const,
  )
  return Object.fromEntries(found.filter(([, folder]) => existsSync(folder)))
}

async function readShares(home: string, { shares, env }: HomesOptions): Promise<SharedFile[]> {
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

/** Where a path below HOME is, by the variables that name other places. */
function resolveInHome(
  path: string,
  home: string,
  env: Environment,
  folderVariable?: HomeShare['folderVariable'],
): string {
  const [variable, start] = folderVariable ?? ['', '']
  const namedFolder = env[variable] ?? ''
  if (namedFolder !== '' && path.startsWith(start)) return join(namedFolder, basename(path))
  const moved = Object.entries(XDG_FOLDERS).find(([name, at]) => path.startsWith(`${at}/`) && env[name])
  if (moved === undefined) return join(home, path)
  const [name, at] = moved
  return join(env[name] ?? '', path.slice(at.length + 1))
}

async function filesAt(place: string): Promise<string[]> {
  const found = await stat(place)
  if (!found.isDirectory()) return found.size <= MAX_BYTES ? [place] : []
  const inside = await readdir(place, { recursive: true, withFileTypes: true })
  const files = inside.filter((one) => one.isFile()).slice(0, MAX_FILES)
  return files.map((one) => join(one.parentPath, one.name))
}

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
  own: string | null,
  shared: readonly SharedFile[],
  { name, email }: Identity,
) {
  const user = `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`
  // In a container another user may own the checkout.
  await writeFile(join(path, '.gitconfig'), `${user}[safe]\n\tdirectory = *\n`)
  for (const one of shared) {
    const file = join(path, one.path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, one.bytes, { mode: 0o600 })
  }
  if (process.platform !== 'darwin' || own === null) return
  for (const file of KEYCHAIN.filter((one) => existsSync(join(own, one)))) {
    await mkdir(dirname(join(path, file)), { recursive: true })
    await symlink(join(own, file), join(path, file))
  }
}

/** A text as git's configuration quotes it. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/[\n\r\0]/g, ' ')}"`
}

/**
 * Saves renewed tokens: if they were discarded, the person's login would become invalid, too. Only values of existing keys are
 * saved, and never over a file that was changed meanwhile.
 */
async function saveRenewedLogin(home: string, one: SharedFile): Promise<void> {
  if (!one.isRenewed) return
  const current = await readRegularFile(join(home, one.path))
  if (current === null || current.equals(one.bytes)) return
  if (!isRenewal(one.bytes, current)) return
  if ((await readFile(one.from).catch(() => null))?.equals(one.bytes) !== true) return
  const isWritten = await replaceFile(one.from, current, 0o600).then(
    () => true,
    () => false,
  )
  if (isWritten) one.bytes = current
}

/** The newest values of the person's own file; not where it has other keys now. */
function takeRenewedLogin(one: SharedFile): void {
  if (!one.isRenewed) return
  const current = readRegularFileSync(one.from, MAX_BYTES)
  if (current !== null && isRenewal(one.bytes, current)) one.bytes = current
}

function isRenewal(before: Buffer, after: Buffer): boolean {
  const [left, right] = [jsonObject(before.toString('utf8')), jsonObject(after.toString('utf8'))]
  return left !== null && right !== null && hasSameShape(left, right)
}

function hasSameShape(before: Json, after: Json): boolean {
  const keys = Object.keys(after)
  if (keys.length !== Object.keys(before).length) return false
  return keys.every((key) => {
    const [oldValue, newValue] = [before[key], after[key]]
    const [left, right] = [asObject(oldValue), asObject(newValue)]
    if (left !== null && right !== null) return hasSameShape(left, right)
    const isText = typeof oldValue === 'string' || typeof oldValue === 'number'
    return isText
      ? typeof oldValue === typeof newValue
      : JSON.stringify(oldValue) === JSON.stringify(newValue)
  })
}
