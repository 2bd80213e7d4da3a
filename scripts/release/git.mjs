// git, as the scripts of a release call it: with the token of the job where it has one, in the environment of git alone, so that no
// file and no command line holds it.
import { execFileSync, spawnSync } from 'node:child_process'
import { refuse } from './refuse.mjs'

/** What a command prints, without the last line break. Throws where it fails. */
export function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 << 20, env: environment() }).trimEnd()
}

/** The commit or object that a tag of the remote has; null where there is none. */
export function remoteTag(name) {
  return git('ls-remote', '--tags', 'origin', `refs/tags/${name}`).split('\t')[0] || null
}

/** Refuses where the ref no longer has `expected`, which is empty where it must not exist. */
export function push(from, ref, expected) {
  const args = ['push', `--force-with-lease=${ref}:${expected}`, 'origin', `${from}:${ref}`]
  const { status, stderr } = spawnSync('git', args, { encoding: 'utf8', env: environment() })
  if (status === 0) return
  const found = stderr.trim().split('\n').at(-1) ?? ''
  const fix = 'run the job again: it looks anew'
  refuse([{ path: ref, found, expected: `it where it was looked at (${expected || 'nowhere'})`, fix }])
}

function environment() {
  const { GH_TOKEN: token, GITHUB_SERVER_URL: server = 'https://github.com' } = process.env
  if (token === undefined) return process.env
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    ...process.env,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${server}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
  }
}
