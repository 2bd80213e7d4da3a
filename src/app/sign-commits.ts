// The key that signs the commits of the branch: from a secret, or the one that the person's git is set up for.
import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Clone } from '../git/git.ts'
import { gitEnv, gitProgram } from '../git/git-process.ts'
import { gpgSigner, type Signer, SigningError, type SshKey, sshSigner } from '../git/sign-commit.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { findProgram } from '../system/program.ts'

/** `source`: the name of what gave the key, for messages. `trial`: throws SigningError if it cannot sign. */
export type CommitSigner = { sign: Signer; source: string; trial(): Promise<unknown> }

/**
 * The signer of this run; null with `sign-commits: false`, and in a job that gets no keys because it pushes nothing. Programs are looked
 * up here, before any agent can write to a folder of the PATH.
 */
export function openSigner(
  { signCommits, signingKey, surface }: Settings,
  clone: Clone,
  env: Environment,
  byApi: () => CommitSigner | null,
): CommitSigner | null {
  if (signCommits === 'false') return null
  if (signCommits === 'true') return byApi()
  const own = { ...gitEnv(env), ...variablesOf(env) }
  const named = clone.config.get('user.signingkey') ?? null
  if (signCommits === 'gpg') {
    const program = programOf('gpg', personsProgram('gpg.program', env), env)
    return keySigner(gpgSigner(program, named, own), named === null ? 'gpg' : 'user.signingkey')
  }
  const key = sshKeyOf(signingKey, named, surface)
  if (key === null) return null
  const program = 'text' in key ? null : personsProgram('gpg.ssh.program', env)
  const source = 'text' in key ? 'signing-key' : 'user.signingkey'
  return keySigner(sshSigner(programOf('ssh-keygen', program, env), key, own), source)
}

function keySigner(sign: Signer, source: string): CommitSigner {
  return { sign, source, trial: () => sign(Buffer.from('tree 0\n\ntrial')) }
}

/** Throws UserError, before anything is charged, if a run cannot sign what its settings ask for. */
export async function requireSigner({ signCommits }: Settings, signer: CommitSigner | null): Promise<void> {
  if (signCommits === 'false') return
  const path = 'input sign-commits'
  if (signer === null)
    throw new UserError({
      path,
      ...(signCommits === 'true'
        ? {
            found: 'true, but this is not a GitHub Actions job',
            expected: 'ssh or gpg',
            fix: 'write sign-commits: ssh, which uses user.signingkey of your git configuration',
          }
        : {
            found: 'ssh without a key',
            expected: 'signing-key as well; on a laptop, user.signingkey in your git configuration',
            fix: `run \`gh secret set RALPH_SIGNING_KEY < key\`, and add signing-key: $\{{ secrets.RALPH_SIGNING_KEY }} to the step`,
          }),
    })
  try {
    await signer.trial()
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    throw new UserError({
      path,
      found: `${signCommits}, but ${signer.source} cannot sign: ${messageOf(error)}`,
      ...WAYS_OUT[signCommits],
    })
  }
}

const UNLOCKED = 'a private key without a passphrase, or one that your ssh-agent or gpg-agent has unlocked'
const WAYS_OUT = {
  ssh: { expected: UNLOCKED, fix: 'try `ssh-keygen -Y sign -n git -f KEY`' },
  gpg: { expected: UNLOCKED, fix: 'try `gpg --detach-sign FILE`' },
  true: {
    expected: "the job's own token, or the token of an App, with contents: write",
    fix: 'leave `token` out, or set sign-commits: ssh and signing-key',
  },
}

function sshKeyOf(secret: string | null, named: string | null, surface: Settings['surface']): SshKey | null {
  if (secret !== null) return { text: secret }
  if (named === null || surface === 'action') return null
  return { file: named.startsWith('~/') ? join(homedir(), named.slice(2)) : named }
}

/** Where gpg and ssh find the agent that keeps a key unlocked. */
function variablesOf(env: Environment): Record<string, string> {
  const names = ['GNUPGHOME', 'GPG_TTY', 'SSH_AUTH_SOCK']
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

function programOf(name: string, persons: string | null, env: Environment): string {
  return findProgram(persons ?? name, env.PATH ?? '') ?? persons ?? name
}

/** Only from the person's own configuration: an agent may have written to that of the clone. */
function personsProgram(key: string, env: Environment): string | null {
  try {
    const args = ['config', '--global', '--get', key]
    const found = execFileSync(gitProgram(env.PATH), args, {
      env: gitEnv(env),
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return found.trim() || null
  } catch {
    // git exits with an error if the setting does not exist.
    return null
  }
}
