// Hides the credentials that actions/checkout left for later steps from the agent, and restores them.
import { chmod, lstat, readdir, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { readRegularFile, replaceFile } from '../system/files.ts'
import { type Environment, runGitIn } from './git-process.ts'

export type HiddenCredentials = {
  /** The secrets found, for redaction. */
  secrets: string[]
  /** Files with credentials that Ralph may not change. */
  remaining: string[]
  /** Returns the files whose folder was replaced. They are not restored: an agent could have chosen the new place. */
  restore(): Promise<string[]>
}

const HEADER = /^http\.(?:.*\.)?extraheader$/
const URL_SETTING = /^(?:url\..*\.(?:push)?insteadof|remote\..*\.(?:push)?url)$/
/** checkout with `ssh-key`: `ssh -i "<RUNNER_TEMP>/<uuid>" -o …` */
const KEY_FILE = /(?:^|\s)-i\s+(?:"([^"]+)"|(\S+))/

/**
 * Finds authorization headers and key files that actions/checkout left. Before v6 headers are in `.git`, also in that of submodules and
 * of further checkouts inside. Since v6 they are below RUNNER_TEMP; SSH keys always are. A folder that is not a repository has none.
 */
export async function hideCredentials(directory: string, env: Environment): Promise<HiddenCredentials> {
  const gitDir = join(directory, '.git')
  const temp = env.RUNNER_TEMP
  const configs = [...(await configsOf(gitDir)), ...(await otherCheckoutConfigs(directory, temp))]
  const mayChange = (file: string) =>
    configs.includes(file) ||
    [gitDir, temp].some((folder) => folder !== undefined && file.startsWith(resolve(folder) + sep))
  const secrets: string[] = []
  const remaining = new Set<string>()
  const found = new Map<string, 'header' | 'key'>()
  for (const config of configs) {
    for (const { origin, key, value } of await settingsOf(config, directory, env)) {
      const file = resolve(directory, origin)
      if (HEADER.test(key) && value !== '') {
        secrets.push(...secretsIn(value))
        if (mayChange(file)) found.set(file, 'header')
        else remaining.add(file)
      }
      // Passwords in URLs are not from actions/checkout. They are reported and redacted, but left in place.
      const urlPasswords = URL_SETTING.test(key) ? userInfo(`${key} ${value}`) : []
      secrets.push(...urlPasswords)
      const isStore = key === 'credential.helper' && /\bstore\b/.test(value)
      if (urlPasswords.length > 0 || isStore) remaining.add(file)
      const match = key === 'core.sshcommand' ? KEY_FILE.exec(value) : null
      const identity = match?.[1] ?? match?.[2]
      if (identity === undefined) continue
      const keyFile = resolve(directory, identity)
      if (mayChange(keyFile)) found.set(keyFile, 'key')
    }
  }
  const hiddenFiles: { file: string; folder: string | null; bytes: Buffer; mode: number }[] = []
  for (const [file, kind] of found) {
    const bytes = await readRegularFile(file)
    if (bytes === null) continue
    const mode = (await lstat(file)).mode & 0o777
    hiddenFiles.push({ file, folder: await folderIdentity(file), bytes, mode })
    if (kind === 'key') await replaceFile(file, '')
    else for (const key of await headersIn(file, directory, env)) await unset(file, key, directory, env)
  }
  return {
    secrets: [...new Set(secrets)],
    remaining: [...remaining].map((file) => file.replace(homedir(), '~')),
    async restore() {
      const notRestored: string[] = []
      for (const { file, folder, bytes, mode } of hiddenFiles) {
        if ((await folderIdentity(file)) !== folder) {
          notRestored.push(file)
          continue
        }
        await replaceFile(file, bytes)
        await chmod(file, mode)
      }
      return notRestored
    },
  }
}

/** Identifies the folder of a file by its real path and inode; null if there is none. */
async function folderIdentity(file: string): Promise<string | null> {
  const folder = dirname(file)
  const path = await realpath(folder).catch(() => null)
  const stats = await stat(folder).catch(() => null)
  return path === null || stats === null ? null : `${path} ${stats.dev} ${stats.ino}`
}

/** Configuration files of further checkouts: since v6 in RUNNER_TEMP, before `.git/config` in folders up to two levels below. */
async function otherCheckoutConfigs(directory: string, temp: string | undefined): Promise<string[]> {
  const names = temp === undefined ? [] : await readdir(temp).catch(() => [])
  const found = names
    .filter((name) => /^git-credentials-.*\.config$/.test(name))
    .map((name) => join(temp ?? '', name))
  const searchFolder = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (!entry.isDirectory() || entry.name === '.git') continue
      const subfolder = join(folder, entry.name)
      const config = join(subfolder, '.git', 'config')
      if ((await lstat(config).catch(() => null))?.isFile() === true) found.push(config)
      if (depth > 1 && entry.name !== 'node_modules') await searchFolder(subfolder, depth - 1)
    }
  }
  await searchFolder(directory, 2)
  return found
}

/** The clone's configuration, and that of its submodules. */
async function configsOf(gitDir: string): Promise<string[]> {
  const modules = await readdir(join(gitDir, 'modules'), { recursive: true }).catch(() => [])
  const inside = modules.filter((name) => name === 'config' || name.endsWith(`${sep}config`))
  return ['config', ...inside.map((name) => join('modules', name))].map((name) => join(gitDir, name))
}

async function settingsOf(config: string, directory: string, env: Environment) {
  // The clone's own configuration is read in the repository, as its conditional includes depend on it.
  const isCloneConfig = config === join(directory, '.git', 'config')
  const scope = isCloneConfig ? [] : ['--file', config]
  const args = ['-c', 'safe.directory=*', 'config', '--list', '-z', '--show-origin', '--includes', ...scope]
  const variables: Record<string, string> = isCloneConfig ? { GIT_CONFIG_GLOBAL: globalConfig(env) } : {}
  const listed = await runGitIn(args, directory, env, variables).catch(() => '')
  // Origins and settings alternate. A setting is its key, a line feed, and its value.
  const fields = listed.split('\0')
  const settings: { origin: string; key: string; value: string }[] = []
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const origin = fields[index] ?? ''
    const setting = fields[index + 1] ?? ''
    const keyEnd = setting.indexOf('\n')
    if (!origin.startsWith('file:') || keyEnd < 0) continue
    const file = origin.slice('file:'.length)
    settings.push({ origin: file, key: setting.slice(0, keyEnd), value: setting.slice(keyEnd + 1) })
  }
  return settings
}

function globalConfig(env: Environment): string {
  return join(env.HOME ?? '/', '.gitconfig')
}

async function headersIn(file: string, directory: string, env: Environment): Promise<string[]> {
  const args = ['config', '--file', file, '-z', '--name-only', '--list']
  const names = await runGitIn(args, directory, env, {})
  return [...new Set(names.split('\0').filter((name) => HEADER.test(name)))]
}

async function unset(file: string, key: string, directory: string, env: Environment): Promise<void> {
  await runGitIn(['config', '--file', file, '--unset-all', key], directory, env, {})
}

/** The password in `https://user:password@host`, or the user if there is no password. */
function userInfo(text: string): string[] {
  return [...text.matchAll(/:\/\/([^/@\s:]+)(?::([^/@\s]+))?@/g)]
    .flatMap(([, user = '', password = '']) => [password === '' ? user : password])
    .filter((value) => value.length >= 8)
}

/** `AUTHORIZATION: basic <user:token>`: the encoded whole, and the token. */
function secretsIn(header: string): string[] {
  const [, encoded = ''] = /^authorization:\s*\w+\s+(\S+)/i.exec(header) ?? []
  const token = Buffer.from(encoded, 'base64').toString('utf8').split(':').slice(1).join(':')
  return [encoded, token].filter((value) => value.length >= 8)
}
