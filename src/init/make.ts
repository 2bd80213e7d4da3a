// A Makefile, where nothing above it is known: C and whatever else has one.
import { type Ecosystem, firstOf, gatesFrom } from './project.ts'

const NAMES = ['Makefile', 'makefile', 'GNUmakefile']
const TARGETS = {
  typecheck: ['typecheck', 'types'],
  lint: ['lint'],
  test: ['test', 'check', 'tests'],
  build: ['build', 'all'],
}

export const make: Ecosystem = {
  name: 'make',
  marks: NAMES,
  propose(folder) {
    const text = folder.text(firstOf(folder, NAMES) ?? '')
    const hasTarget = (name: string) => new RegExp(`^${name}\\s*:(?!=)`, 'm').test(text)
    const run = (names: readonly string[]): string | null => {
      const target = names.find(hasTarget)
      return target === undefined ? null : `make ${target}`
    }
    return {
      language: 'make',
      manager: null,
      prepare: null,
      setup: null,
      gates: gatesFrom(
        Object.fromEntries(Object.entries(TARGETS).map(([gate, names]) => [gate, run(names)])),
      ),
      isWorkspace: true,
    }
  },
}
