// A package that a change adds, as its lockfiles and manifests name it.
import * as z from 'zod/mini'
import { oneLine } from './text.ts'

/** One entry of what a change adds. All texts come from files of the change and are hostile. */
export type DependencyFinding = z.infer<typeof DependencyFinding>
export const DependencyFinding = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('package'),
    /** Such as `npm` or `PyPI`. */
    ecosystem: z.string(),
    name: z.string(),
    version: z.nullable(z.string()),
    /** As the lockfile states it; left out if it does not. */
    license: z.exactOptional(z.string()),
    /** Its installation runs a program of the package. */
    installScript: z.exactOptional(z.literal(true)),
    /** A well-known package whose name is one edit away. */
    resembles: z.exactOptional(z.string()),
    /** It comes from this address instead of from a registry. */
    from: z.exactOptional(z.string()),
    /** A manifest names it. The others are packages that it needs. */
    direct: z.exactOptional(z.literal(true)),
  }),
  /** The packages of this file could not be read. */
  z.object({ kind: z.literal('unread'), path: z.string(), why: z.string() }),
  /** So many further packages are not listed. */
  z.object({ kind: z.literal('more'), count: z.number() }),
])

/** A finding of a story that landed. `waits`: it waits until a person allows it (`allowedBy`). */
export type AddedDependency = z.infer<typeof AddedDependency>
export const AddedDependency = z.object({
  storyId: z.string(),
  finding: DependencyFinding,
  waits: z.exactOptional(z.literal(true)),
  allowedBy: z.exactOptional(z.string()),
})

/** The name by which a person allows it. */
export function dependencyName(finding: DependencyFinding): string {
  switch (finding.kind) {
    case 'package':
      return oneLine(finding.name, 100)
    case 'unread':
      return oneLine(finding.path, 100)
    case 'more':
      return `${finding.count} more`
  }
}

/** One line for people, without a full stop. */
export function describeDependency(finding: DependencyFinding): string {
  switch (finding.kind) {
    case 'unread':
      return `Ralph could not compare the packages in ${oneLine(finding.path, 100)}: ${oneLine(finding.why, 160)}`
    case 'more':
      return `${finding.count} more new packages: the diff of the lockfile lists them`
    case 'package': {
      const { ecosystem, version, license, installScript, resembles, from, direct } = finding
      const about = [
        ecosystem,
        license === undefined ? '' : oneLine(license, 40),
        direct === true ? '' : 'indirect',
        installScript === true ? 'runs a script when it is installed' : '',
        resembles === undefined ? '' : `its name resembles ${resembles}`,
        from === undefined ? '' : `from ${oneLine(from, 80)}`,
      ].filter((part) => part !== '')
      const name = `${dependencyName(finding)}${version === null ? '' : ` ${oneLine(version, 40)}`}`
      return `new package ${name} (${about.join(', ')})`
    }
  }
}
