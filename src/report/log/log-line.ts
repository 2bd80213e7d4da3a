// A line of a run's log as data, and what lines need beside the state. A terminal and a job log show it. Its texts may be hostile.
import type { Surface } from '../../engine/commands/command-table.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { Colour } from '../outcomes.ts'

/** `[tag] text`; `mark` only where it can be shown; of a program's `output` the telling lines stand below. */
export type Tagged = {
  tag: string
  text: string
  colours?: readonly Colour[]
  mark?: string
  output?: string
}
/** `=== heading ===`; of what is too long, `end` stays. */
export type Line = Tagged | { heading: string; end?: string }

/** The agent's name (`claude`), and where people type. */
export type LineFacts = { limits: Limits; agent: string; surface: Surface }

export function line(tag: string, text: string, ...colours: readonly Colour[]): Tagged {
  return { tag, text, colours }
}

/** Something that people should know and that ends nothing. */
export function warningLine(text: string): Line {
  return line('warning', text, 'yellow')
}
