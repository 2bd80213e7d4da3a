// The key by which the stand-in signs commits, as GitHub does with its own: a real one of gpg, in a keyring of its own.
import { execFile, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The folder of the keyring, for GNUPGHOME. */
export type SigningKey = { folder: string }

export async function newSigningKey(folder: string): Promise<SigningKey> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const who = 'GitHub <noreply@github.com>'
  const args = ['--batch', '--passphrase', '', '--quick-gen-key', who, 'ed25519', 'sign']
  await run('gpg', args, { env: { ...process.env, GNUPGHOME: folder } })
  return { folder }
}

/** An armored signature with the line end after it, as GitHub stores it. */
export async function signWith({ folder }: SigningKey, payload: string): Promise<string> {
  const child = spawn('gpg', ['--batch', '--armor', '--detach-sign'], {
    env: { ...process.env, GNUPGHOME: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(payload)
  return text(child.stdout)
}
