// What the runner would do for a job's output: the stand-in's reader of commands, on lines as the runner splits them.
import type { StepAnnotation } from '../standin/model.ts'
import { Commands } from '../standin/runner/commands.ts'

export type Heard = { done: string[]; annotations: StepAnnotation[]; log: string[] }

/** Everything that the runner obeys in the output (`done`), and what it shows. LF, CR LF and a lone CR end a line. */
export function heard(output: string): Heard {
  const done: string[] = []
  const annotations: StepAnnotation[] = []
  const log: string[] = []
  const commands = new Commands({
    annotate: (annotation) => {
      annotations.push(annotation)
      done.push(annotation.level)
    },
    mask: (value) => done.push(`mask ${value}`),
    output: (name, value) => done.push(`output ${name}=${value}`),
    state: (name, value) => done.push(`state ${name}=${value}`),
    log: (line) => log.push(line),
    fail: () => done.push('fail'),
  })
  for (const line of output.split(/\r\n|\r|\n/)) {
    const before = log.length
    commands.line(line)
    // A group, a token, an echo: obeyed, and shown as another line or as none.
    if (log.length === before || log.at(-1) !== line) done.push(`obeyed ${line.slice(0, 80)}`)
  }
  return { done, annotations, log }
}
