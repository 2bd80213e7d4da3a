// The clean room of the final verification: a fresh clone with its own home, in which gates run. It has only committed files: no
// ignored files, dependencies or caches.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { GlueRun } from '../engine/model/example.ts'
import type { CleanRoom, GatesPort, GlueInRoom } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { CleanClone, findLeftoverClones, removeClone } from '../git/clean-clone.ts'
import { IgnoredFiles } from '../git/ignored-files.ts'
import { type OtherUser, userInTree } from '../isolation/other-user.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { workTreesFolder } from './work-trees-folder.ts'
import type { Workspace } from './workspace.ts'

/** Where the gates of a room run: `top` is its tree, and no variable of `env` leads out of it. */
export type GatePlace = {
  top: string
  env: Environment
  as: OtherUser | null
  restore(commit: string): Promise<unknown>
}

export type CleanRoomOptions = {
  workspace: Pick<Workspace, 'clone' | 'git' | 'submodules'>
  env: Environment
  /** The user that gates run as; null for our own. */
  as: OtherUser | null
  gatesIn(place: GatePlace): GatesPort
  /** Runs a glue in the room. */
  glueIn?(place: GatePlace, glue: GlueInRoom, signal: AbortSignal): Promise<GlueRun>
}

/** Folders of tools that are installed in a person's home, by the variable that names them. None of them is a cache of packages. */
const TOOL_FOLDERS: Readonly<Record<string, string>> = {
  ASDF_DATA_DIR: '.asdf',
  BUN_INSTALL: '.bun',
  CYPRESS_CACHE_FOLDER: '.cache/Cypress',
  MISE_DATA_DIR: '.local/share/mise',
  NVM_DIR: '.nvm',
  PLAYWRIGHT_BROWSERS_PATH: '.cache/ms-playwright',
  PNPM_HOME: '.local/share/pnpm',
  PYENV_ROOT: '.pyenv',
  RBENV_ROOT: '.rbenv',
  RUSTUP_HOME: '.rustup',
  SDKMAN_DIR: '.sdkman',
  UV_PYTHON_INSTALL_DIR: '.local/share/uv/python',
  VOLTA_HOME: '.volta',
}
/** Files below the home by which a person's tools reach registries and repositories. */
const CONFIGURATION = [
  '.gitconfig',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.netrc',
  '.pypirc',
  '.config/pip/pip.conf',
  '.pip/pip.conf',
  '.config/uv/uv.toml',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.gemrc',
]
/**
 * Variables that name caches and installed packages outside the room. Each of these caches stays cold, because an agent's code may have
 * written an entry (docs/internals/security.md, "Why caches of packages and builds start empty").
 */
const OUTSIDE_VARIABLES =
  /^(?:XDG_(?:CONFIG|CACHE|DATA|STATE)_HOME|NPM_CONFIG_CACHE|YARN_CACHE_FOLDER|PIP_CACHE_DIR|UV_CACHE_DIR|GOCACHE|GOMODCACHE|GOPATH|CARGO_HOME|GRADLE_USER_HOME|COREPACK_HOME|NUGET_PACKAGES|COMPOSER_HOME|DENO_DIR|VIRTUAL_ENV)$/i
/** Caches in the room's home: a person's configuration, which is copied, may name others. */
const OWN_CACHES: Readonly<Record<string, string>> = {
  NPM_CONFIG_CACHE: '.npm',
  PIP_CACHE_DIR: '.cache/pip',
  UV_CACHE_DIR: '.cache/uv',
}

/** Opens a clean room for a feature's branch. Throws UserError if the folder or the clone cannot be made. */
export async function openCleanRoom(options: CleanRoomOptions, state: State): Promise<CleanRoom> {
  const { env, as, workspace } = options
  const { clone, git } = workspace
  const place = as?.rooms ?? workTreesFolder(env)
  const prefix = `clean-${createHash('sha256').update(clone.gitDir).digest('hex').slice(0, 8)}-`
  const user = (tree: string) => (as === null ? null : userInTree(as, tree))
  for (const leftover of await findLeftoverClones(place, prefix)) await removeRoom(leftover, user(leftover))
  const folder = await mkdir(place, { recursive: true })
    .then(() => mkdtemp(join(place, prefix)))
    .catch((error: unknown) => refuseRoom(place, error))
  // The other user may pass through the folder to the trees in it, but not list it.
  if (as !== null) await chmod(folder, 0o711)
  // The tests of some projects depend on the name of their folder.
  const tree = join(folder, 'tree', basename(clone.workTree))
  const treeUser = user(tree)
  const removeAll = () => removeRoom(folder, treeUser)
  const refuse = async (error: unknown): Promise<never> => {
    await removeAll()
    return refuseRoom(place, error)
  }
  const store = await CleanClone.of(git, state.green, join(folder, 'store')).catch(refuse)
  const refs = { branch: state.branch, base: state.base }
  const ignoredFiles = () => new IgnoredFiles(tree, folder, () => store.ignored(tree))
  let ignored = ignoredFiles()
  let gates: GatesPort | null = null
  let gatePlace: GatePlace | null = null
  const closeTree = async () => {
    await gates?.[Symbol.asyncDispose]?.()
    gates = null
    await treeUser?.end()
    await as?.renewHome()
    await removeRoom(dirname(tree), treeUser)
    await removeClone(join(folder, 'home'))
  }
  const openGates = (): GatesPort => {
    if (gates === null) throw new Error('nothing is checked out in the clean room')
    return gates
  }
  let submoduleCount = 0
  const addSubmodules = async (commit: string) => {
    for (const [path, oid] of await store.submodules(commit)) {
      const submodule = workspace.submodules.get(path)
      if (submodule === undefined) continue
      submoduleCount += 1
      const submoduleFolder = join(folder, `submodule-${submoduleCount}`)
      const submoduleClone = await CleanClone.of(submodule, oid, submoduleFolder)
      await submoduleClone.checkOut(oid, join(tree, path), refs)
    }
  }
  return {
    async checkOut(commit) {
      await closeTree()
      await store.checkOut(commit, tree, refs).catch(refuse)
      await addSubmodules(commit).catch(refuse)
      ignored = ignoredFiles()
      await ignored.remember()
      const roomEnv = as === null ? await createHome(folder, env) : env
      const restore = (target: string) => store.restore(target, tree)
      gatePlace = { top: tree, env: roomEnv, as: treeUser, restore }
      gates = options.gatesIn(gatePlace)
    },
    async restore(commit) {
      await store.restore(commit, tree)
      return true
    },
    ignored: {
      afterPrepare: () => ignored.afterPrepare(),
      forGatesAgain: () => ignored.forGatesAgain(),
    },
    gates: {
      prepare: (commit, signal, what) => openGates().prepare(commit, signal, what),
      run: (run, signal) => openGates().run(run, signal),
    },
    async runGlue(glue, signal) {
      if (gatePlace === null || options.glueIn === undefined)
        throw new Error('no glue can run in the clean room')
      return options.glueIn(gatePlace, glue, signal)
    },
    async [Symbol.asyncDispose]() {
      await closeTree()
      await removeAll()
    },
  }
}

/** Makes a home, and returns the environment with it. Variables lead to tools that are installed in the person's home. */
async function createHome(folder: string, env: Environment): Promise<Environment> {
  const home = join(folder, 'home')
  await mkdir(home)
  const personHome = env.HOME
  const kept = Object.entries(env).filter(([name]) => !OUTSIDE_VARIABLES.test(name))
  const caches = Object.entries(OWN_CACHES).map(([name, path]) => [name, join(home, path)])
  const roomEnv = { ...Object.fromEntries(kept), ...Object.fromEntries(caches), HOME: home }
  if (personHome === undefined) return roomEnv
  for (const name of CONFIGURATION) {
    const file = resolve(personHome, name)
    if (!existsSync(file)) continue
    await mkdir(dirname(join(home, name)), { recursive: true })
    await copyFile(file, join(home, name))
  }
  const tools = Object.entries(TOOL_FOLDERS)
    .map(([name, path]) => [name, join(personHome, path)] as const)
    .filter(([name, toolFolder]) => !(name in env) && existsSync(toolFolder))
  return { ...roomEnv, ...Object.fromEntries(tools) }
}

/** Files of another user can only be removed as root. */
async function removeRoom(folder: string, user: OtherUser | null): Promise<void> {
  if (user !== null) await user.asRoot('rm', '-rf', '--one-file-system', '--', folder)
  else await removeClone(folder)
}

function refuseRoom(place: string, error: unknown): never {
  throw new UserError({
    path: 'clean-room',
    found: `Ralph could not clone the branch into ${place}: ${messageOf(error)}`,
    expected: '',
    fix: 'free up space there, or set clean-room: off, so that the final verification runs in the checkout',
  })
}
