// A line of a run's log as data, for a terminal or a job log. Its texts may be hostile.
import type { Surface } from '../../engine/commands/command-table.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { Colour } from '../outcomes.ts'

/** `[tag] text`. `mark` is shown only on terminals. `output`: a program's output, whose most important lines are shown below the line. */
export type Tagged = {
  tag: string
  text: string
  colours?: readonly Colour[]
  mark?: string
  output?: string
}
/** `=== heading end ===`. A heading that is too long is cut; `end` is never cut. */
export type Line = Tagged | { heading: string; end?: string }

/** What lines need in addition to the state: limits, the agent's name (`claude`), and the surface on which people type commands. */
export type LineFacts = { limits: Limits; agent: string; surface: Surface }

export function line(tag: string, text: string, ...colours: readonly Colour[]): Tagged {
  return { tag, text, colours }
}

/** A warning, which does not end the run. */
export function warningLine(text: string): Line {
  return line('warning', text, 'yellow')
}
