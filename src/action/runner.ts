// What goes to the runner's files: outputs, and what the post step must know.
import * as core from '@actions/core'
import type { Outputs } from '../report/outputs.ts'

/** The action's outputs, kebab-case; null is the empty string. */
export function giveOutputs(outputs: Outputs): void {
  for (const [name, value] of Object.entries(outputs)) {
    core.setOutput(
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      value === null ? '' : String(value),
    )
  }
}

/** Kept for the post step, which mends what main could not finish. Written early: a cancelled main never comes back. */
export function remember(facts: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(facts)) core.saveState(name, value)
}
