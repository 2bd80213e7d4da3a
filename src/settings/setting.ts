// What a setting is: one definition, from which come its input, flag and key, its type, its default and its texts.
import * as z from 'zod/mini'
import { type Kind, kinds } from './types.ts'

/** Where Ralph runs: as a step of a workflow, or from a command line. */
export type Surface = 'action' | 'cli'

export type Group = 'what' | 'agent' | 'gates' | 'limits' | 'pull request' | 'trust, scale' | 'file only'

/** A setting, apart from its names. */
export type Setting<S extends z.core.$ZodType = z.core.$ZodType, D = unknown> = {
  group: Group
  kind: Kind
  schema: S
  /** One line: the description in action.yml, in the CLI's help and in the README. */
  description: string
  /** What is read where nothing is written; null is read as null. */
  byDefault: D
  /** The same on a command line. */
  byDefaultOnCli: unknown
  /** The default in words; empty when there is none. */
  standard: string
  /** The value, or a part of it, may be a secret: no listing shows it. */
  isHidden: boolean
  /** It is a secret: no mistake shows it either. */
  isSecret: boolean
  /** The words of a choice, else empty. */
  values: readonly string[]
  /** What is worth knowing about a value that was given. */
  remarks(value: z.output<S>): string[]
  /** Some values of it have no effect yet. */
  isLater: boolean
}

type More<T> = {
  /** The default in words, where it is not what is written. */
  standard?: string
  /** The default on a command line. */
  onCli?: string | number
  hidden?: true
  secret?: true
  remarks?: (value: T) => string[]
  /** Read and checked, but nothing comes of this value in this version: what does not happen, in words. Else null. */
  noEffect?: (value: T) => string | null
}

type Written = string | number | boolean | readonly unknown[] | Readonly<Record<string, unknown>>

/** The value of a setting. */
export type ValueOf<T> =
  T extends Setting<infer S, infer D> ? z.output<S> | (D extends null ? null : never) : never

/** The maker of a group's settings: what one may be, what stands for nothing, and what it is for. */
export function groupOf(group: Group) {
  return <S extends z.core.$ZodType, D extends Written | null>(
    schema: S,
    byDefault: D,
    about: string,
    more: More<z.output<S>> = {},
  ): Setting<S, D> => {
    const { kind, values = [] } = kinds.get(schema) ?? { kind: 'text' }
    const isPlain = byDefault !== null && typeof byDefault !== 'object'
    return {
      group,
      kind,
      schema,
      description: values.length === 0 ? about : `${about} (${values.join(', ')}).`,
      byDefault,
      byDefaultOnCli: more.onCli ?? byDefault,
      standard: more.standard ?? (isPlain ? String(byDefault) : ''),
      isHidden: more.hidden === true || more.secret === true,
      isSecret: more.secret === true,
      values,
      remarks: (value) => {
        const why = more.noEffect?.(value) ?? null
        const nothing = why === null ? [] : [`has no effect in this version: ${why}`]
        return [...(more.remarks?.(value) ?? []), ...nothing]
      },
      isLater: more.noEffect !== undefined,
    }
  }
}

/** The value where nothing is given. */
export function standardOf(setting: Setting, surface: Surface): unknown {
  const written = surface === 'cli' ? setting.byDefaultOnCli : setting.byDefault
  return written === null ? null : z.parse(setting.schema, written)
}

/** `maxCostUsd` as `max-cost-usd`. */
export function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
