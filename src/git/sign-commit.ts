// Signs commits with a key: by ssh-keygen or gpg, as git does it. The signature covers every byte of the commit, so the tree that the
// gates ran on is the tree that is signed.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Takes a commit's bytes and returns them with a signature. Throws SigningError. */
export type Signer = (commit: Buffer) => Promise<Buffer>

export class SigningError extends Error {}

/**
 * A key for ssh-keygen: its text, or the file that git's `user.signingkey` names. It may be a public key if an ssh-agent has the private
 * one.
 */
export type SshKey = { text: string } | { file: string }

type Environment = Readonly<Record<string, string>>

/** Milliseconds. A program that waits for a passphrase has to end. */
const TIMEOUT_MS = 60_000

export function sshSigner(program: string, key: SshKey, env: Environment): Signer {
  const sign = (file: string, commit: Buffer, files: readonly number[]) =>
    run(program, ['-Y', 'sign', '-n', 'git', '-f', file], commit, env, files)
  return async (commit) => {
    if ('file' in key) return withSignature(commit, await sign(key.file, commit, []))
    const fd = openUnnamed(key.text)
    try {
      return withSignature(commit, await sign('/dev/fd/3', commit, [fd]))
    } finally {
      closeSync(fd)
    }
  }
}

/** `key`: what git's `user.signingkey` says; null for gpg's default key. */
export function gpgSigner(program: string, key: string | null, env: Environment): Signer {
  const args = [
    '--batch',
    '--no-tty',
    '--armor',
    '--detach-sign',
    ...(key === null ? [] : ['--local-user', key]),
  ]
  return async (commit) => withSignature(commit, await run(program, args, commit, env, []))
}

/**
 * The commit with the signature in its header, after the committer, as `git commit -S` writes it. Throws SigningError for any other
 * text.
 */
export function withSignature(commit: Buffer, signature: string): Buffer {
  const lines = signature.trim().split(/\r?\n/)
  if (!/^-----BEGIN (?:SSH|PGP) SIGNATURE-----$/.test(lines[0] ?? ''))
    throw new SigningError('the signing program printed no signature')
  const end = commit.indexOf('\n\n')
  const header = Buffer.from(`\ngpgsig ${lines.join('\n ')}`)
  return Buffer.concat([commit.subarray(0, end), header, commit.subarray(end)])
}

/** A file with this text that has no name, so that it ends with this process, however that ends. ssh-keygen reads keys only from files. */
function openUnnamed(key: string): number {
  const path = join(tmpdir(), `ralph-${randomBytes(16).toString('hex')}`)
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  rmSync(path)
  // A secret that was pasted may have lost its last line end, without which ssh-keygen does not read it.
  writeSync(fd, `${key.replaceAll('\r\n', '\n').trimEnd()}\n`)
  return fd
}

/** What the program prints for this input. `files`: open files, from number 3 on. */
async function run(
  program: string,
  args: readonly string[],
  input: Buffer,
  env: Environment,
  files: readonly number[],
): Promise<string> {
  // In a session without a terminal it cannot ask for a passphrase in the middle of a run.
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe', ...files], detached: true })
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null)
    throw new SigningError(`Ralph could not connect to the signing program ${program}`)
  stdin.on('error', () => {}) // EPIPE: the exit code shows why.
  stdin.end(input)
  try {
    const [printed, complaint, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'close')])
    if (code === 0) return printed
    throw new SigningError(
      complaint.trim().split('\n').at(-1) || `${program} ended with ${code ?? 'a signal'}`,
    )
  } finally {
    clearTimeout(timer)
  }
}
