// Whether git can be used: it is installed, and new enough.
import { type Mistake, UserError } from '../system/errors.ts'
import { type Environment, execute, gitEnv, gitProgram, NO_CONFIG } from './git-process.ts'

/** `git merge-tree --write-tree` and `git cat-file --batch-command` came with it. */
const LEAST = [2, 38] as const

/** The version in what `git --version` printed. */
export function versionOf(output: string): string {
  return /\d+\.\d+[\d.]*/.exec(output)?.[0] ?? output.trim()
}

/** What is wrong with a git that printed this for `--version`; null if nothing is. `output`: null if git did not start. */
export function gitMistake(output: string | null): Mistake | null {
  const newer = `install git ${LEAST.join('.')} or newer: https://git-scm.com`
  const mistake = { path: 'git', expected: '', fix: newer }
  if (output === null) return { ...mistake, found: 'git is not installed, or it is not on your PATH.' }
  const version = versionOf(output)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])
  return isNew ? null : { ...mistake, found: `git ${version} is too old for Ralph.` }
}

/** What `git --version` prints, by the path of the program. */
const outputs = new Map<string, Promise<string | null>>()

/** What `git --version` prints; null if git does not start. Each program is asked once. */
export function askGitVersion(env: Environment): Promise<string | null> {
  const program = gitProgram(env.PATH)
  const known = outputs.get(program)
  if (known !== undefined) return known
  const asked = execute(['--version'], { directory: '/', env: { ...gitEnv(env), ...NO_CONFIG } }).then(
    ({ stdout }) => stdout,
    () => null,
  )
  outputs.set(program, asked)
  return asked
}

/** Throws UserError if git is missing or too old. */
export async function requireGit(env: Environment): Promise<void> {
  const mistake = gitMistake(await askGitVersion(env))
  if (mistake !== null) throw new UserError(mistake)
}
