// A counterexample of a judge as a gate: it writes its files, runs its command, and removes the files.
import { relative } from 'node:path'
import {
  COUNTEREXAMPLE_TIMEOUT_MS,
  type Counterexample,
  counterexampleName,
} from '../engine/model/counterexample.ts'
import type { Gate } from '../engine/model/gate.ts'
import { shellWord } from '../system/shell-word.ts'

/** Everything in it runs as the gates' user: the runner writes none of these files. `cwd`: the folder that gates run in. */
export function counterexampleGate(
  { storyId, run, files }: Counterexample,
  { top, cwd }: { top: string; cwd: string },
  at: number,
): Gate {
  const up = relative(cwd, top)
  const paths = files.map(({ path }) => shellWord(up === '' ? `./${path}` : `${up}/${path}`))
  const writes = files.map(({ text }, index) => {
    const path = paths[index] ?? ''
    const data = Buffer.from(text).toString('base64')
    return `mkdir -p "$(dirname ${path})" && rm -rf ${path} && printf %s ${data} | base64 -d > ${path} || exit 125`
  })
  const clean = paths.length === 0 ? [] : [`trap ${shellWord(`rm -rf ${paths.join(' ')}`)} EXIT`]
  const script = [...clean, ...writes, `( ${'\n'}${run}${'\n'})`].join('\n')
  return {
    name: counterexampleName({ storyId }, at),
    run: script,
    timeoutMs: COUNTEREXAMPLE_TIMEOUT_MS,
    when: null,
    advisory: false,
    alone: true,
  }
}
