// `isolation: other-user` with real users, real processes and a real checkout.
import '../../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { laterScript } from '../../../src/isolation/other-user/probe.ts'
import { endOtherUser, type OtherUser, openOtherUser } from '../../../src/isolation/other-user.ts'
import { UserError } from '../../../src/system/errors.ts'
import { type RunResult, runUntrusted } from '../../../src/system/process.ts'
import { lacks } from '../../machine/needs.ts'
import { HEADLESS, PYTHON } from '../system/headless.ts'

const options = { skip: lacks('root', 'util-linux'), timeout: 30_000 }
const withPython = { ...options, skip: lacks('root', 'util-linux', 'python') }
const narrow = { ...options, skip: lacks('root', 'util-linux', 'namespaces') }

type Place = AsyncDisposable & {
  user: OtherUser
  tree: string
  temp: string
  /** As the user, with a model key in the environment. */
  bash(script: string, more?: Partial<Parameters<typeof runUntrusted>[0]>): Promise<RunResult>
}

type Layout = { folder: string; tree: string; temp: string }

const hasNft = lacks('nft') === false

function networkRules(): string {
  return hasNft ? execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }) : ''
}

async function layOut(): Promise<Layout> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-other-'))
  const [tree, temp] = [join(folder, 'tree'), join(folder, 'temp')]
  await chmod(folder, 0o755)
  await mkdir(temp, { mode: 0o755 })
  await writeFile(join(temp, 'key'), 'a key')
  execFileSync('git', ['init', '-q', tree])
  await mkdir(join(tree, 'src'))
  await writeFile(join(tree, 'src', 'a.txt'), 'a\n')
  await writeFile(join(tree, 'top.txt'), 'top\n')
  return { folder, tree, temp }
}

function openIn({ folder, tree, temp }: Layout, more: Record<string, string> = {}): Promise<OtherUser> {
  const env = { PATH: process.env.PATH, HOME: '/root', RUNNER_TEMP: temp, ...more }
  return openOtherUser({ env, workTree: tree, gitDir: join(tree, '.git'), key: folder, report: () => {} })
}

async function openPlace(): Promise<Place> {
  const layout = await layOut()
  const user = await openIn(layout)
  return {
    ...layout,
    user,
    bash: (script, more) =>
      runUntrusted({
        file: 'bash',
        args: ['-c', script],
        cwd: layout.tree,
        env: { PATH: process.env.PATH ?? '', KEY: 'the-model-key', SHLVL: '1' },
        timeoutMs: 20_000,
        captureBytes: 64 * 1024,
        as: user,
        ...more,
      }),
    async [Symbol.asyncDispose]() {
      await user.close()
      await rm(layout.folder, { recursive: true, force: true })
    },
  }
}

test(
  'programs run as another user without rights, and a key is visible only to its own program',
  options,
  async () => {
    await using place = await openPlace()
    const seen = await place.bash(
      [
        'id -un; [ "$(id -G)" = "$(id -g)" ] && id -u; echo "key $KEY"; echo "home $HOME"; cat',
        'grep -E "NoNewPrivs|CapEff|CapBnd" /proc/self/status',
        `cat /proc/${process.pid}/environ /proc/${process.pid}/mem ${join(place.temp, 'key')} 2>&1`,
        'cat /proc/*/cmdline 2>/dev/null | tr "\\0" " " | grep -c "the-model-[k]ey"',
        'git status --short',
      ].join('\n'),
      { stdin: 'the prompt\n' },
    )
    const lines = seen.output.split('\n')
    assert.deepEqual(lines.slice(0, 5), [
      place.user.name,
      String(place.user.uid),
      'key the-model-key',
      `home ${place.user.home}`,
      'the prompt',
    ])
    assert.match(seen.output, /NoNewPrivs:\s*1/)
    assert.match(seen.output, /CapEff:\s*0+\n/)
    assert.equal(seen.output.match(/Permission denied|No such file/g)?.length, 3, seen.output)
    assert.match(seen.output, /^0$/m, 'a key stands in a command line')
    assert.match(seen.output, /^\?\? top\.txt$/m, 'git works for it')
  },
)

test(
  'a session has its own home, which is removed after it; the home of the gates stays',
  options,
  async () => {
    await using place = await openPlace()
    await place.bash('echo kept >~/kept')
    for (let sessions = 0; sessions < 2; sessions++) {
      await using home = await place.user.openHome()
      const script =
        'pwd -P; ls -A; stat -c "%a %U" .; mkdir -p .claude shut/in; echo x >.claude/CLAUDE.md; chmod 0 shut'
      const seen = await place.bash(`cd && ${script}`, {
        env: { PATH: process.env.PATH ?? '', HOME: home.path },
      })
      assert.equal(seen.output, `${home.path}\n700 ${place.user.name}\n`)
    }
    const left = await place.bash('ls -A ~')
    assert.equal(left.output, 'kept\n')
  },
)

test(
  'the other user can write to the work tree but not to .git; afterwards the runner owns everything',
  options,
  async () => {
    await using place = await openPlace()
    const made = await place.bash(
      [
        'set -e',
        'echo more >>src/a.txt; echo new >src/b.txt; mv top.txt moved.txt; mkdir -m 0700 deep; echo x >deep/x',
        'chmod 0000 src/b.txt; ln -s /etc/hostname link; cp /bin/true setuid; chmod 6755 setuid',
        'if mv .git .git2 || rm -rf .git || touch .git/x || git config a.b c || git init -q .; then exit 9; fi 2>/dev/null',
      ].join('\n'),
    )
    assert.deepEqual(made.exit, { kind: 'exit', code: 0 }, made.output)
    for (const path of ['src/a.txt', 'src/b.txt', 'moved.txt', 'deep', 'deep/x', 'link', 'setuid']) {
      const found = await lstat(join(place.tree, path))
      if (found.isDirectory()) assert.equal(found.uid, 0, path)
      assert.equal(found.mode & 0o6000 & (found.isDirectory() ? 0 : 0o6000), 0, path)
    }
    assert.equal((await stat('/etc/hostname')).uid, 0)
    assert.equal(await readFile(join(place.tree, 'src', 'b.txt'), 'utf8'), 'new\n')
    // What it made once it may change again.
    const again = await place.bash(
      'echo y >deep/x && echo z >src/b.txt && rm moved.txt && echo w >>src/a.txt',
    )
    assert.deepEqual(again.exit, { kind: 'exit', code: 0 }, again.output)
    assert.match(
      execFileSync('git', ['-C', place.tree, 'rev-parse', '--git-dir'], { encoding: 'utf8' }),
      /\.git/,
    )
  },
)

test(
  'the other user can change every file in the tree, and untouched files look unchanged to git',
  options,
  async () => {
    await using place = await openPlace()
    const own =
      'set -e; chmod +x src/a.txt; touch -d 2020-01-01 src/a.txt; cp -p src/a.txt src/copy; chmod 644 src/a.txt'
    const again =
      'set -e; mkdir -p build; cp -p src/a.txt build/; chmod 755 build/a.txt; chmod 700 build/a.txt'
    for (const script of [own, again, again]) {
      const done = await place.bash(script)
      assert.deepEqual(done.exit, { kind: 'exit', code: 0 }, done.output)
    }
    const times = async () => (await lstat(join(place.tree, 'src', 'a.txt'))).ctimeMs
    const before = await times()
    await place.bash('cat src/a.txt')
    assert.equal(await times(), before, 'git would read it anew')
    await place.user.close()
    const left = { '.': 0o755, src: 0o755, 'src/a.txt': 0o644, build: 0o755, 'build/a.txt': 0o700 }
    for (const [path, expected] of Object.entries(left)) {
      const { uid, gid, mode } = await lstat(join(place.tree, path))
      assert.deepEqual([uid, gid, mode & 0o7777], [0, 0, expected], path)
    }
  },
)

test(
  'programs in the open group run as the same user, the runner owns their files afterwards, and no other program can join that group',
  options,
  async () => {
    await using place = await openPlace()
    const { user, tree } = place
    const open: OtherUser = {
      ...user,
      command: (file, args, cwd) => user.command(file, args, cwd, { isOpen: true }),
    }
    const made = await place.bash(
      'id -u; id -g; id -gn; mkdir made; echo x >made/x; echo y >>src/a.txt; cp /usr/bin/id taken; chmod 2755 taken',
      { as: open },
    )
    const [uid, gid, group] = made.output.split('\n')
    assert.deepEqual([uid, gid, group], [String(user.uid), String(user.openGid), `${user.name}-open`])
    const script = [
      'echo z >>made/x; ./taken -g; find / -xdev -perm -2000 -exec id -g ";" -quit 2>/dev/null',
      `sg ${group} "id -g" </dev/null; newgrp ${group} </dev/null; setpriv --regid=${gid} --keep-groups id -g`,
      `unshare --user --map-root-user id -g; unshare --user --map-group=${gid} touch made/mapped; chgrp ${gid} src/a.txt`,
      'id -G',
    ].join('\n')
    const tried = await place.bash(`exec 2>&1; ${script}`)
    assert.doesNotMatch(tried.output, new RegExp(`^${gid}$`, 'm'))
    assert.notEqual((await lstat(join(tree, 'made', 'mapped')).catch(() => null))?.gid, Number(gid))
    assert.equal(await readFile(join(tree, 'made', 'x'), 'utf8'), 'x\nz\n')
    await user.close()
    for (const path of ['made', 'made/x', 'src/a.txt', 'taken']) {
      const { uid, gid } = await lstat(join(tree, path))
      assert.deepEqual([uid, gid], [0, 0], path)
    }
    assert.doesNotMatch(readFileSync('/etc/group', 'utf8'), new RegExp(`^${group}:`, 'm'))
  },
)

test('a tree that was granted twice is revoked by the second revoke', options, async () => {
  await using place = await openPlace()
  const owner = async () => (await stat(join(place.tree, 'src'))).uid
  await place.user.grant()
  await place.bash('echo b >src/b.txt')
  assert.equal(await owner(), place.user.uid)
  await place.bash('echo c >src/c.txt')
  await place.user.revoke()
  assert.equal(await owner(), 0)
})

test(
  'the runner can read granted files again, whatever their mode, and a hard-linked cache file is not granted',
  options,
  async () => {
    const layout = await layOut()
    const cached = join(layout.folder, 'cached')
    await writeFile(cached, 'a cache\n')
    await link(cached, join(layout.tree, 'src', 'cached'))
    const user = await openIn(layout)
    const session = (script: string) =>
      runUntrusted({
        file: 'bash',
        args: ['-c', script],
        cwd: layout.tree,
        env: { PATH: '/usr/bin:/bin', SHLVL: '1' },
        timeoutMs: 20_000,
        captureBytes: 1000,
        as: user,
      })
    await session(
      'mkdir -p shut/in; echo x >shut/in/x; chmod 0 shut/in/x shut/in shut; chmod 0604 src/a.txt; echo x >src/cached',
    )
    for (const path of ['shut', 'shut/in', 'shut/in/x', 'src/a.txt']) {
      const { mode, uid, gid } = await stat(join(layout.tree, path))
      assert.deepEqual([uid, gid, mode & 0o600], [0, 0, 0o600], path)
    }
    assert.equal(await readFile(cached, 'utf8'), 'a cache\n')
    await user.close()
    await rm(layout.folder, { recursive: true })
  },
)

test(
  'every program is ended: one in its own session, one with an empty environment, a fork bomb, one that ignores signals',
  options,
  async () => {
    await using place = await openPlace()
    const script = [
      'setsid env -i sleep 600 >/dev/null 2>&1 &',
      '(trap "" TERM; while :; do sleep 1; done) >/dev/null 2>&1 &',
      'b() { sleep 600 | sleep 600 & }; for i in $(seq 40); do b; done',
      'echo started',
    ].join('\n')
    const { output } = await place.bash(script)
    assert.match(output, /started/)
    assert.equal(place.user.isRunning(), false)
    // Ended by us in the middle.
    const stop = new AbortController()
    const cut = await place.bash('trap "" TERM; echo ready; while :; do sleep 1; done', {
      signal: stop.signal,
      onLine: () => stop.abort(),
    })
    assert.deepEqual(cut.exit, { kind: 'aborted' })
    assert.equal(place.user.isRunning(), false)
  },
)

test(
  'programs that fork and exit at once, or that stop or kill the programs that end them, are ended',
  options,
  async () => {
    await using place = await openPlace()
    const baton =
      'baton() { ( sleep 0.002; baton ) & }; setsid bash -c "$(declare -f baton); baton" >/dev/null 2>&1 &'
    const stopper =
      'setsid bash -c "trap : TERM; while :; do kill -STOP -1; kill -KILL -1; done" >/dev/null 2>&1 &'
    for (const script of [baton, stopper]) {
      const { output } = await place.bash(`${script}\necho started`)
      // The stopper may be quicker than the word, and its shell's shell says so.
      assert.match(output, /started|Killed|^$/)
      assert.equal(place.user.isRunning(), false, script)
    }
  },
)

test(
  'a program that ends its first thread and kills the programs that end it is ended',
  withPython,
  async () => {
    await using place = await openPlace()
    const uid = String(place.user.uid)
    // Outside of any namespace, as in a container.
    const child = spawn(
      'setpriv',
      ['--reuid', uid, '--regid', uid, '--clear-groups', PYTHON, '-c', HEADLESS, 'deaf'],
      {
        stdio: 'ignore',
      },
    )
    while (!/\) Z /.test(readFileSync(`/proc/${child.pid}/stat`, 'latin1'))) await delay(5)
    assert.equal(place.user.isRunning(), true)
    assert.equal(await place.user.end(), 1)
    await delay(20)
    assert.notEqual(child.signalCode, null)
  },
)

test(
  'everything but the tree, the home and temporary folders is read-only, and a program sees only its own processes',
  narrow,
  async () => {
    await using place = await openPlace()
    assert.ok(place.user.isNarrow)
    const opened = await mkdtemp('/opt/ralph-')
    await chmod(opened, 0o777)
    try {
      const seen = await place.bash(
        `touch ${opened}/x 2>&1; touch /tmp/ralph-x $HOME/x x && rm /tmp/ralph-x x; ls -d /proc/[0-9]* | wc -l`,
      )
      assert.match(seen.output, /Read-only file system/)
      assert.doesNotMatch(seen.output, /Permission denied/)
      assert.ok(Number(seen.output.trim().split('\n').at(-1)) < 10, seen.output)
    } finally {
      await rm(opened, { recursive: true })
    }
  },
)

test('services that look up names over the network cannot be reached', narrow, async (t) => {
  const socket = '/run/nslcd/socket'
  if (existsSync(socket)) return t.skip('this machine has such a service')
  await mkdir('/run/nslcd', { recursive: true })
  const service = createServer((client) => client.end('asked')).listen(socket)
  await once(service, 'listening')
  try {
    await chmod(socket, 0o666)
    await using place = await openPlace()
    assert.ok(place.user.isNarrow)
    // By a program that every user may run, wherever the checkout lies.
    const ask = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un("${socket}")) or print($!), exit; print <S>`
    const script = `perl -e '${ask}'`
    assert.equal((await place.bash(script)).output, 'Connection refused')
    assert.equal((await place.bash(script, { as: null })).output, 'asked')
  } finally {
    service.close()
    await rm('/run/nslcd', { recursive: true })
  }
})

/** Perl that asks a socket file, or an abstract socket (`@name`), and prints what it hears. */
const askSocket = (name: string) =>
  `perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un("${name.replace('@', '\\0')}")) or print($!), exit; print <S>'`

test("sockets of root's services in /run cannot be reached, those of a database can", narrow, async () => {
  const folder = await mkdtemp('/run/ralph-test-')
  const [root, database] = [join(folder, 'root'), join(folder, 'database')]
  const services = [root, database].map((path) => createServer((client) => client.end('asked')).listen(path))
  await Promise.all(services.map((service) => once(service, 'listening')))
  try {
    await chmod(folder, 0o755)
    for (const path of [root, database]) await chmod(path, 0o777)
    await chown(database, 65_534, 65_534)
    await using place = await openPlace()
    assert.ok(place.user.isNarrow)
    assert.equal((await place.bash(askSocket(root), { as: null })).output, 'asked')
    assert.equal((await place.bash(askSocket(root))).output, 'Connection refused')
    assert.equal((await place.bash(askSocket(database))).output, 'asked')
  } finally {
    for (const service of services) service.close()
    await rm(folder, { recursive: true })
  }
})

const withScopes = { ...options, skip: lacks('root', 'util-linux', 'landlock') }
test('abstract sockets of other programs cannot be reached, those of its own can', withScopes, async () => {
  const name = `@ralph-test-${process.pid}`
  const service = createServer((client) => client.end('asked')).listen(name.replace('@', '\0'))
  await once(service, 'listening')
  try {
    await using place = await openPlace()
    assert.equal((await place.bash(askSocket(name), { as: null })).output, 'asked')
    assert.equal((await place.bash(askSocket(name))).output, 'Operation not permitted')
    const own = `const net = require('node:net')
net.createServer((client) => client.end('own')).listen('\\0ralph-own', () =>
  net.connect('\\0ralph-own').on('data', (text) => { console.log(String(text)); process.exit() }))`
    const script = `exec '${process.execPath}' -e "$SCRIPT"`
    const env = { PATH: process.env.PATH ?? '', SHLVL: '1', SCRIPT: own }
    assert.equal((await place.bash(script, { env })).output.trim(), 'own')
  } finally {
    service.close()
  }
})

test('other mounts are read-only, too, and nothing stays in shared memory', narrow, async () => {
  const [mounted, later] = [await mkdtemp('/opt/ralph mount-'), await mkdtemp('/opt/ralph-later-')]
  const mount = (folder: string) => execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', folder])
  mount(mounted)
  await using place = await openPlace()
  mount(later)
  try {
    assert.ok(place.user.isNarrow)
    const seen = await place.bash(
      `touch '${mounted}/x' 2>&1; touch ${later}/x 2>/dev/null || echo refused; echo kept >/dev/shm/ralph-x && cat /dev/shm/ralph-x`,
    )
    assert.match(seen.output, /Read-only file system/)
    assert.match(seen.output, /^refused$/m)
    assert.match(seen.output, /^kept$/m)
    assert.doesNotMatch((await place.bash('ls /dev/shm')).output, /ralph-x/)
    execFileSync('touch', [join(mounted, 'ours')])
    assert.equal(existsSync('/dev/shm/ralph-x'), false)
    const temporary = await place.bash('echo x >/dev/null && t=$(mktemp) && rm "$t" && touch ~/x x && rm x')
    assert.deepEqual(temporary.exit, { kind: 'exit', code: 0 }, temporary.output)
  } finally {
    for (const folder of [mounted, later]) {
      execFileSync('umount', [folder])
      await rm(folder, { recursive: true })
    }
  }
})

test("the home is new, the runner's folder is closed meanwhile, and no file is left", options, async () => {
  const layout = await layOut()
  await chmod(layout.tree, 0o700)
  const first = await openIn(layout)
  assert.equal((await stat(layout.temp)).mode & 0o777, 0o700)
  execFileSync('install', ['-o', first.name, '/dev/null', join(first.home, '.bashrc')])
  if (hasNft) execFileSync('nft', ['add', 'table', 'inet', `ralph_${first.uid}`])
  const again = await openIn(layout) // a job after one that was lost
  assert.doesNotMatch(networkRules(), new RegExp(`ralph_${first.uid}\\b`))
  assert.equal(again.uid, first.uid)
  await assert.rejects(lstat(join(first.home, '.bashrc')), /ENOENT/)
  await first.close()
  assert.equal((await stat(layout.temp)).mode & 0o777, 0o755, 'as it found it')
  assert.equal((await stat(layout.tree)).mode & 0o7777, 0o700)
  assert.doesNotMatch(readFileSync('/etc/passwd', 'utf8'), new RegExp(`^${first.name}:`, 'm'))
  await rm(layout.folder, { recursive: true })
})

test(
  'tools that are installed in the home of the runner are passed by variable where the user can read them',
  options,
  async () => {
    const layout = await layOut()
    const home = join(layout.folder, 'home')
    await mkdir(join(home, '.rustup', 'toolchains'), { recursive: true })
    await mkdir(join(home, '.cache', 'ms-playwright'), { recursive: true, mode: 0o755 })
    await chmod(join(home, '.cache', 'ms-playwright'), 0o700)
    const user = await openIn(layout, { HOME: home })
    const { RUSTUP_HOME, PLAYWRIGHT_BROWSERS_PATH, CARGO_HOME } = user.env({
      CARGO_HOME: join(home, '.cargo'),
    })
    assert.equal(RUSTUP_HOME, join(home, '.rustup'))
    assert.equal(PLAYWRIGHT_BROWSERS_PATH, undefined, 'which it cannot read')
    assert.equal(CARGO_HOME, undefined, 'where it writes')
    assert.equal(user.env({ RUSTUP_HOME: '/opt/rustup' }).RUSTUP_HOME, '/opt/rustup')
    await user.close()
    await rm(layout.folder, { recursive: true })
  },
)

test(
  'after a killed job, programs that still run are ended, and the runner owns the tree again',
  options,
  async () => {
    await using place = await openPlace()
    await place.user.grant()
    const { file, args } = place.user.command('bash', ['-c', 'echo x >left; sleep 600 & echo started; wait'])
    const child = spawn(file, args, { cwd: place.tree, stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(place.user.preamble({ PATH: process.env.PATH ?? '' }))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const { temp, tree } = place
    const folder = join(tree, '..')
    const before = JSON.stringify([...JSON.parse(place.user.before), ['/etc', 0o777]])
    const rest = { env: { RUNNER_TEMP: temp }, workTree: tree, gitDir: join(tree, '.git'), key: folder }
    const ended = await endOtherUser({ ...rest, report: () => {}, before })
    assert.ok(ended >= 2, String(ended))
    assert.equal((await lstat(join(tree, 'left'))).uid, 0)
    assert.equal((await stat(temp)).mode & 0o777, 0o755, 'as it was found')
    assert.equal((await stat('/etc')).mode & 0o777, 0o755)
    for (const odd of ['', 'true', '{}', '[1]', `[["${temp}", -1], ["${temp}", "7"]]`]) {
      await chmod(temp, 0o700)
      await endOtherUser({ ...rest, report: () => {}, before: odd })
      assert.equal((await stat(temp)).mode & 0o777, 0o700, odd)
    }
  },
)

test(
  'world-writable actions are closed to other users during the job, and get their modes back',
  options,
  async () => {
    const layout = await layOut()
    const [actions, more] = [
      join(layout.folder, '_actions'),
      { RUNNER_WORKSPACE: join(layout.folder, 'work') },
    ]
    const post = join(actions, 'owner', 'name', 'v1', 'post.js')
    await mkdir(join(post, '..'), { recursive: true })
    await writeFile(post, '')
    const mode = async () => (await stat(actions)).mode & 0o7777
    const closed = await openIn(layout, more)
    assert.equal(await mode(), 0o755, 'what nobody else writes stays as it is')
    await closed.close()
    await chmod(post, 0o666)
    for (const killed of [false, true]) {
      const user = await openIn(layout, more)
      assert.equal(await mode(), 0o750)
      if (!killed) await user.close()
      else
        await endOtherUser({
          env: { PATH: process.env.PATH, RUNNER_TEMP: layout.temp, ...more },
          workTree: layout.tree,
          gitDir: join(layout.tree, '.git'),
          key: layout.folder,
          report: () => {},
          before: user.before,
        })
      assert.equal(await mode(), 0o755)
    }
    await rm(layout.folder, { recursive: true })
  },
)

test('every parent folder of programs that run later with tokens is checked, up to the root', () => {
  const script = laterScript({})
  for (const folder of ['/', dirname(process.execPath)])
    assert.ok(
      script.includes(`[ -w ${folder} ] && [ ! -k ${folder} ] && echo later ${folder}`),
      script.join('\n'),
    )
})

test('isolation that cannot be kept is an error, and leaves no user and no process', options, async (t) => {
  const refused = async (layout: Layout, expected: RegExp, more?: Record<string, string>) => {
    await assert.rejects(openIn(layout, more), (error) => {
      assert.ok(error instanceof UserError)
      assert.match(error.message, expected)
      return true
    })
    const name = `ralph-${createHash('sha256').update(layout.folder).digest('hex').slice(0, 8)}`
    assert.doesNotMatch(readFileSync('/etc/passwd', 'utf8'), new RegExp(`^${name}:`, 'm'))
  }
  await t.test('a world-writable folder above the actions is refused', async () => {
    const layout = await layOut()
    await mkdir(join(layout.folder, '_actions'))
    await chmod(layout.folder, 0o777)
    await refused(layout, /can change .*, which later steps run with tokens/, {
      RUNNER_WORKSPACE: join(layout.folder, 'work'),
    })
    await rm(layout.folder, { recursive: true })
  })
  await t.test('a folder that another user cannot enter is refused', async () => {
    const layout = await layOut()
    await chmod(layout.folder, 0o700)
    await refused(layout, /cannot enter[\s\S]*fix: run `chmod o\+x/)
    await rm(layout.folder, { recursive: true })
  })
  await t.test('a folder that another user cannot enter is opened on a disposable machine', async () => {
    const layout = await layOut()
    await chmod(layout.folder, 0o700)
    const user = await openIn(layout, { RUNNER_ENVIRONMENT: 'github-hosted' })
    assert.equal((await stat(layout.folder)).mode & 0o777, 0o701)
    await user.close()
    await rm(layout.folder, { recursive: true })
  })
  await t.test(
    'a PATH folder inside the checkout is refused, existing or not, by a link or not',
    async () => {
      const layout = await layOut()
      await symlink(join(layout.tree, 'src'), join(layout.folder, 'bin'))
      for (const folder of [join(layout.tree, '.venv', 'bin'), join(layout.folder, 'bin')]) {
        const PATH = `${folder}:${process.env.PATH}`
        await refused(
          layout,
          /is on the PATH, but is in the checkout, which the agent can change\.\n.*take it off the PATH/,
          { PATH },
        )
      }
      await rm(layout.folder, { recursive: true })
    },
  )
  await t.test('a world-writable .git is refused', async () => {
    const layout = await layOut()
    await chmod(join(layout.tree, '.git'), 0o777)
    await refused(layout, /can change \.git/)
    await rm(layout.folder, { recursive: true })
  })
})
