// How the tests of the stand-in talk to it: bare HTTP, so that nothing is hidden, and real git.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../standin/bare.ts'
import type { GitHub, Permissions } from '../../standin/github.ts'

export const everything: Permissions = {
  contents: 'write',
  checks: 'write',
  pull_requests: 'write',
  issues: 'write',
  actions: 'write',
  statuses: 'write',
}

export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape
  body: any
  headers: Headers
}
export type Ask = (request: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>

/** Asks as `GET /path` or `POST ~/path`, where `~` is the repository. */
export function client(github: GitHub, token: string | null): Ask {
  return async (request, body, headers = {}) => {
    const [method = '', path = ''] = request.split(' ')
    const response = await fetch(github.url + path.replace('~', `/repos/${github.fullName}`), {
      method,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
  }
}

export interface Clone extends AsyncDisposable {
  path: string
  /** Runs git in the clone; rejects with what git said. */
  git: (...args: string[]) => Promise<string>
  /** Commits these files. */
  commit: (files: Record<string, string>, message?: string) => Promise<string>
}
/** A clone that authenticates itself by its environment, as the action does. */
export async function clone(github: GitHub, token: string | null, ...options: string[]): Promise<Clone> {
  const path = await mkdtemp(join(tmpdir(), 'clone-'))
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const env: Record<string, string> = {
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
    ...(token === null
      ? {}
      : {
          GIT_CONFIG_COUNT: '1',
          GIT_CONFIG_KEY_0: `http.${github.url}/.extraheader`,
          GIT_CONFIG_VALUE_0: header,
        }),
  }
  const run = async (...args: string[]): Promise<string> =>
    (await git(args, { cwd: path, env })).toString().trim()
  const dispose = (): Promise<void> => rm(path, { recursive: true, force: true })
  try {
    await run('clone', '--quiet', ...options, github.cloneUrl, '.')
  } catch (error) {
    await dispose()
    throw error
  }
  return {
    path,
    git: run,
    commit: async (files, message = 'A change') => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(join(path, name, '..'), { recursive: true })
        await writeFile(join(path, name), text)
      }
      await run('add', '--all')
      await run('commit', '--quiet', '-m', message)
      return run('rev-parse', 'HEAD')
    },
    [Symbol.asyncDispose]: dispose,
  }
}
