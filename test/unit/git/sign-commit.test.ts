// Signatures as git itself checks them, by real keys of ssh-keygen and gpg.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { commitBytes } from '../../../src/git/objects.ts'
import {
  gpgSigner,
  SigningError,
  type SshKey,
  sshSigner,
  withSignature,
} from '../../../src/git/sign-commit.ts'
import { findProgram } from '../../../src/system/program.ts'

const PATH = process.env.PATH ?? ''
const SSH_KEYGEN = findProgram('ssh-keygen', PATH)
const GPG = findProgram('gpg', PATH)
const WHO = { name: 'Ralph', email: 'ralph@example.com' }
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'sign-'))
  const env = { PATH, HOME: folder, GNUPGHOME: join(folder, 'gnupg'), GIT_CONFIG_NOSYSTEM: '1' }
  const git = (args: string[], input?: Buffer) =>
    execFileSync('git', args, { cwd: folder, env, input, encoding: 'utf8', stdio: 'pipe' }).trim()
  git(['init', '-q'])
  // The empty tree, which the commits name.
  git(['write-tree'])
  return {
    folder,
    env,
    /** Whether git accepts the signature of these bytes. */
    verifies(commit: Buffer, ...settings: string[]): boolean {
      const oid = git(['hash-object', '-t', 'commit', '-w', '--stdin'], commit)
      git(['fsck', '--strict', oid])
      try {
        git([...settings, 'verify-commit', oid])
        return true
      } catch {
        return false
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

function sshKey(folder: string, passphrase = ''): string {
  const file = join(folder, `key${passphrase}`)
  execFileSync(SSH_KEYGEN ?? '', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', '', '-f', file])
  return file
}

const commit = (message: string) =>
  commitBytes(EMPTY_TREE, [], WHO, new Date('2026-11-29T12:00:00Z'), message)

test('ssh: git accepts the signature by a file and by a text, and not that of other bytes', {
  skip: SSH_KEYGEN === null && 'no ssh-keygen',
}, async () => {
  using there = place()
  const { folder, env } = there
  const file = sshKey(folder)
  const allowed = join(folder, 'allowed')
  writeFileSync(allowed, `${WHO.email} ${readFileSync(`${file}.pub`, 'utf8')}`)
  const settings = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`]
  const text = readFileSync(file, 'utf8')
  const keys: SshKey[] = [
    { file },
    { text },
    { text: text.trimEnd() },
    { text: text.replaceAll('\n', '\r\n') },
  ]
  for (const key of keys) {
    const sign = sshSigner(SSH_KEYGEN ?? '', key, env)
    const signed = await sign(commit('feat: one\n\nRalph-Story: US-001\n'))
    assert.ok(there.verifies(signed, ...settings))
    const forged = Buffer.from(signed.toString('latin1').replace('US-001', 'US-002'), 'latin1')
    assert.ok(!there.verifies(forged, ...settings))
  }
})

test('ssh: the text of a key has no name on the disk while it signs, nor after that', {
  skip: SSH_KEYGEN === null && 'no ssh-keygen',
}, async () => {
  using there = place()
  const file = sshKey(there.folder)
  // A program in place of ssh-keygen lists what it finds.
  const spy = join(there.folder, 'spy')
  writeFileSync(spy, `#!/bin/sh\nls "$TMPDIR" >"$HOME/seen"\nexec ${SSH_KEYGEN} "$@"\n`, { mode: 0o755 })
  const before = readdirSync(tmpdir())
  await sshSigner(
    spy,
    { text: readFileSync(file, 'utf8') },
    { ...there.env, TMPDIR: tmpdir() },
  )(commit('one'))
  const seen = readFileSync(join(there.folder, 'seen'), 'utf8').split('\n').filter(Boolean)
  const isNew = (name: string) => !before.includes(name) && /^ralph-[0-9a-f]{32}$/.test(name)
  assert.ok(seen.length > 0)
  assert.deepEqual([...seen, ...readdirSync(tmpdir())].filter(isNew), [])
})

test('ssh: a key with a passphrase, and a text that is no key, end in an error at once', {
  skip: SSH_KEYGEN === null && 'no ssh-keygen',
}, async () => {
  using there = place()
  const locked = readFileSync(sshKey(there.folder, 'secret'), 'utf8')
  for (const text of [locked, 'no key'])
    await assert.rejects(sshSigner(SSH_KEYGEN ?? '', { text }, there.env)(commit('one')), SigningError)
  await assert.rejects(sshSigner('/nowhere/ssh-keygen', { text: locked }, there.env)(commit('one')), /ENOENT/)
})

test('gpg: git accepts the signature by the key of the keyring', {
  skip: GPG === null && 'no gpg',
}, async () => {
  using there = place()
  const { env } = there
  execFileSync('mkdir', ['-m', '700', env.GNUPGHOME])
  const make = [
    '--batch',
    '--passphrase',
    '',
    '--quick-gen-key',
    `${WHO.name} <${WHO.email}>`,
    'ed25519',
    'sign',
  ]
  execFileSync(GPG ?? '', make, { env, stdio: 'pipe' })
  for (const key of [WHO.email, null]) {
    const signed = await gpgSigner(GPG ?? '', key, env)(commit('one'))
    assert.ok(there.verifies(signed))
    assert.ok(!there.verifies(Buffer.from(signed.toString('latin1').replace('one', 'two'), 'latin1')))
  }
  await assert.rejects(gpgSigner(GPG ?? '', 'nobody@example.com', env)(commit('one')), SigningError)
  execFileSync('gpgconf', ['--kill', 'all'], { env })
})

test('output that is no signature never becomes a part of the commit', () => {
  for (const text of ['', 'hello', 'x\n-----BEGIN SSH SIGNATURE-----', 'tree 0\n\nevil'])
    assert.throws(() => withSignature(commit('one'), text), SigningError)
})
