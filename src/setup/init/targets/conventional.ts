// Gates of targets with the names that such commands have in the wild.
import type { Ecosystem } from '../project.ts'
import { type FoundTarget, findTargets, TARGET_SOURCES } from './target-sources.ts'

/** Names of the target of a gate, the usual one first. `looks`: only if it changes no file, as far as its lines say. */
type Convention = { gate: string; names: readonly string[]; isGuess?: true; looks?: readonly string[] }

const CONVENTIONS: readonly Convention[] = [
  {
    gate: 'format',
    names:
      'format-check fmt-check check-format check-fmt format:check fmt:check format_check fmt_check'.split(
        ' ',
      ),
    looks: ['format', 'fmt', 'formatting', 'black'],
    isGuess: true,
  },
  { gate: 'typecheck', names: 'typecheck type-check types typing mypy pyright dialyzer'.split(' ') },
  { gate: 'lint', names: 'lint linters standard rubocop credo flake8 ruff'.split(' ') },
  { gate: 'test', names: 'test tests spec check unit'.split(' ') },
  { gate: 'build', names: ['build', 'compile'], isGuess: true },
]

/** What stands for a language in the proposal of targets. */
export const TARGETS = 'targets'

/** What makes a formatter only look. */
const LOOKS = /(?:^| )--?(?:check\S*|diff|dry-run|list-different|verify\S*|l|c)\b/

/** Makefile, Taskfile, justfile and the others: whatever the language is. */
export const targets: Ecosystem = {
  marks: TARGET_SOURCES.flatMap(({ files }) => files),
  fillsIn: true,
  propose(folder) {
    const found = findTargets(folder)
    const chosen = CONVENTIONS.flatMap((convention) => {
      const target = targetOf(convention, found)
      return target === undefined ? [] : [{ ...convention, target }]
    })
    return {
      language: TARGETS,
      gates: Object.fromEntries(chosen.map(({ gate, target }) => [gate, target.start])),
      guesses: chosen.flatMap(({ gate, target, isGuess }) =>
        target.isGuess || isGuess === true ? [gate] : [],
      ),
    }
  },
}

function targetOf({ names, looks = [] }: Convention, found: readonly FoundTarget[]): FoundTarget | undefined {
  const named = names.flatMap((name) => found.find((one) => one.name === name) ?? [])[0]
  return (
    named ?? found.find(({ name, lines }) => looks.includes(name) && lines.some((line) => LOOKS.test(line)))
  )
}
