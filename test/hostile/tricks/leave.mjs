// Tricks that leave something behind which works on: processes, files for gates; and those that strike at the action.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { actionInSight, homes } from './look.mjs'
import { writableBin } from './plant.mjs'

const pidFile = ({ plan, trick }) => join(plan.evidence, `pid-${trick}`)
const sleep = (tools) => `echo $$ >"${pidFile(tools)}"; exec sleep 300`

/** Waits until the process has written its number. */
async function started(tools) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (existsSync(pidFile(tools)) && readFileSync(pidFile(tools), 'utf8').trim() !== '') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('it did not start')
}

const leave = (words) => async (tools) => {
  const [file, ...args] = words(tools)
  spawn(file, args, { detached: false, stdio: 'ignore' }).unref()
  await started(tools)
}

/** Starts one of the scripts beside this one with nothing of ours in its environment. */
function nameless(tools, script, ...args) {
  const file = join(dirname(fileURLToPath(import.meta.url)), script)
  spawn('setsid', ['env', '-i', process.execPath, file, ...args], { stdio: 'ignore' }).unref()
  return started(tools)
}

/** Settings of a tool in the home folder: npm runs scripts with another shell. */
function setShell({ plan, write, payload }) {
  const shell = join(plan.evidence, 'content-shell')
  write(shell, `#!/bin/bash\n${payload()} </dev/null\nexit 0\n`, 0o755)
  for (const home of homes()) write(join(home, '.npmrc'), `script-shell=${shell}\n`)
}

const alive = (pid) =>
  existsSync(`/proc/${pid}`) && !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))

export const leaving = {
  'leave.background': leave((tools) => ['bash', '-c', sleep(tools)]),
  'leave.nohup': leave((tools) => ['nohup', 'bash', '-c', sleep(tools)]),
  'leave.session': leave((tools) => ['setsid', 'bash', '-c', sleep(tools)]),
  'leave.double': leave((tools) => ['setsid', 'bash', '-c', `(setsid bash -c '${sleep(tools)}' &) & exit 0`]),
  'leave.deaf': leave((tools) => [
    'setsid',
    'bash',
    '-c',
    `trap '' TERM INT HUP; echo $$ >"${pidFile(tools)}"; while :; do sleep 1; done`,
  ]),
  'leave.stopped': leave((tools) => [
    'setsid',
    'bash',
    '-c',
    `echo $$ >"${pidFile(tools)}"; kill -STOP $$; sleep 300`,
  ]),
  /** A new one every few milliseconds, each the child of one that is gone. */
  'leave.relay': leave((tools) => [
    'setsid',
    'bash',
    '-c',
    `next() { echo $BASHPID >"${pidFile(tools)}"; sleep 0.01; (( $1 > 0 )) && { next $(( $1 - 1 )) & disown; }; }; next 2000`,
  ]),
  'leave.wiped': leave((tools) => [
    'setsid',
    'env',
    '-i',
    '/bin/bash',
    '-c',
    `(setsid /bin/bash -c '${sleep(tools)}' &) & exit 0`,
  ]),
  'leave.watch': (tools) =>
    nameless(tools, 'watch.mjs', join(tools.plan.evidence, 'notes.jsonl'), pidFile(tools)),
  /** Played by the story after: who is still there? */
  'leave.count'({ plan, note }) {
    for (const name of readdirSync(plan.evidence).filter((one) => one.startsWith('pid-'))) {
      const pid = readFileSync(join(plan.evidence, name), 'utf8').trim()
      note({ of: name.slice('pid-'.length), alive: pid !== '' && alive(pid) })
    }
  },

  /** Red code is committed, and shows green code to the gates: something without a name swaps it meanwhile. */
  'gate.swap': async (tools) => {
    const { top, plan } = tools
    const file = join(top, 'src', 'swap.mjs')
    writeFileSync(file, 'export const swap = () => 666\n')
    const trace = join(plan.evidence, 'gate-saw')
    await nameless(tools, 'swap.mjs', file, trace, pidFile(tools))
  },
  /** The gate's own tool: whatever it is given, it is content, and counts as many tests as there were. */
  'gate.tool'({ write, payload }) {
    write(
      join(writableBin(), 'node'),
      `#!/bin/bash\ncase "$*" in check.mjs) ${payload()} </dev/null; printf '# tests 9\\n# pass 9\\n# fail 0\\n# skipped 0\\n'; exit 0 ;; esac\nexec "${process.execPath}" "$@"\n`,
      0o755,
    )
  },
  'gate.npmrc': setShell,
  'gate.npmrc-again': setShell,

  'kill.action': () => strike('SIGKILL'),
  'kill.stop': () => strike('SIGSTOP'),
  'kill.terminate': () => strike('SIGTERM'),
}

export function strike(signal) {
  process.kill(Number(actionInSight()), signal)
}
