// What a setting is: one definition, from which come its input, flag and key, its type, its default and its texts.
import * as z from 'zod/mini'
import { type Kind, kinds } from './values.ts'

/** Where Ralph runs: as a step of a workflow, or from a command line. */
export type Surface = 'action' | 'cli'

export type Group = 'what' | 'agent' | 'gates' | 'limits' | 'pull request' | 'trust and scale' | 'file only'

type SettingOptions<T, D> = {
  /** The value if none is given, as people would write it; without a default it is null. */
  default?: D
  /** The default on the command line, if it is another one. */
  cliDefault?: unknown
  /** The default in words, if it differs from `default`. */
  defaultText?: string
  /** The value is a secret: no mistake shows it. */
  secret?: true
  /** Notes on a value that is valid, but may not do what its author expects. */
  remarks?(value: T): string[]
}
type WrittenValue = string | number | boolean | readonly unknown[] | Readonly<Record<string, unknown>>

/** A setting without its names; `about` is one line for action.yml, the CLI's help and the README. */
type Setting<S extends z.core.$ZodType, D> = SettingOptions<z.output<S>, D> & {
  group: Group
  schema: S
  about: string
}

export type ValueOf<T> = T extends Setting<infer S, infer D> ? z.output<S> | Extract<D, null> : never

/** A function that defines settings of this group: schema, description and options. */
export function settingGroup(group: Group) {
  return <S extends z.core.$ZodType, D extends WrittenValue | null = null>(
    schema: S,
    about: string,
    options: SettingOptions<z.output<S>, D> = {},
  ): Setting<S, D> => ({ group, schema, about, ...options })
}

export type SettingRow = Setting<z.core.$ZodType, unknown> & {
  /** Its name in `Settings`. */
  field: string
  /** Its name in the configuration file, and as a flag. */
  key: string
  /** Its name as an input. */
  input: string
  kind: Kind
  /** The words of a choice, else empty. */
  values: readonly string[]
  description: string
  /** The default in words; empty when there is none. */
  defaultText: string
}

export function settingRow(field: string, setting: Setting<z.core.$ZodType, unknown>): SettingRow {
  const key = field.replace(/Ms$/, '')
  const { kind, values = [] } = kinds.get(setting.schema) ?? { kind: 'text' }
  const {
    about,
    default: written,
    defaultText = typeof written === 'object' ? '' : String(written ?? ''),
  } = setting
  return {
    ...setting,
    field,
    key,
    input: toKebabCase(key),
    kind,
    values,
    description: values.length === 0 ? about : withValues(about, values),
    defaultText,
  }
}

/** Lists the words of a choice, unless the text explains each of them. */
function withValues(about: string, values: readonly string[]): string {
  const isExplained = values.every((value) => about.includes(`\`${value}\``))
  return isExplained ? `${about}.` : `${about} (${values.join(', ')}).`
}

/** Whether the setting is also an input and a flag. */
export function isInputAndFlag({ group }: SettingRow): boolean {
  return group !== 'file only'
}

export function defaultValue(row: SettingRow, surface: Surface): unknown {
  const { schema, default: actionDefault, cliDefault = actionDefault } = row
  const written = surface === 'cli' ? cliDefault : actionDefault
  return written === undefined ? null : z.parse(schema, written)
}

export function remarksOf({ remarks }: SettingRow, value: unknown): string[] {
  return remarks?.(value) ?? []
}

/** `maxCostUsd` as `max-cost-usd`. */
export function toKebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
