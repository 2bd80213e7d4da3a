// Writes schemas/: the JSON Schema of each file that people write, from the definition that reads it. A test holds them equal.
// node scripts/schemas.mjs
import { mkdir, writeFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import { prdSchema } from '../src/engine/prd/schema.ts'
import { agnosticShape } from '../src/settings/older-files.ts'
import { settingRows, table } from '../src/settings/settings-table.ts'
import { kinds } from '../src/settings/values.ts'

const configSchema = z.strictObject({
  $schema: z.optional(z.string()),
  ...Object.fromEntries(
    settingRows.map(({ key, schema, description, default: standard }) => {
      const given = standard === undefined ? z.optional(schema) : z.prefault(schema, standard)
      return [key, given.check(z.describe(description))]
    }),
  ),
  ...Object.fromEntries(
    Object.entries({ ...agnosticShape, maxRetries: table.maxAttempts.schema }).map(([key, schema]) => {
      const description = 'Read as the newer settings that stand for it.'
      return [key, z.optional(schema).check(z.meta({ description, deprecated: true }))]
    }),
  ),
})

/** What may stand there besides: `${NAME}`, which the reader replaces, and a list as lines. */
function alternatives({ zodSchema, jsonSchema }) {
  const { type } = zodSchema._zod.def
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  const isList = type === 'pipe' && kinds.get(zodSchema)?.kind === 'list'
  const isShaped = ['boolean', 'number', 'enum', 'int'].includes(type) || jsonSchema.pattern !== undefined
  if ((!isList && !isShaped) || jsonSchema.anyOf !== undefined) return
  const { description, default: standard, deprecated, ...one } = jsonSchema
  for (const key of Object.keys(one)) delete jsonSchema[key]
  // YAML reads `false` without quotes as a boolean.
  const off = one.enum?.includes('false') ? [{ const: false }] : []
  jsonSchema.anyOf = [
    one,
    ...off,
    { type: 'string', ...(isList ? {} : { pattern: '\\$\\{[A-Za-z_]\\w*\\}' }) },
  ]
}

/** The file in schemas/, the definition of what people write, and what JSON Schema cannot know of it. */
const definitions = [
  ['prd.schema.json', prdSchema],
  ['ralph.config.schema.json', configSchema, { override: alternatives }],
]

/** Draft 7 is what editors read. What the reader fills in may be left out, so it is the schema of the input. */
export const schemas = definitions.map(([name, definition, more]) => {
  const $id = `https://raw.githubusercontent.com/ralph/action/v1/schemas/${name}`
  const schema = { $id, ...z.toJSONSchema(definition, { io: 'input', target: 'draft-7', ...more }) }
  return [name, `${JSON.stringify(schema, null, 2)}\n`]
})

if (import.meta.main) {
  const folder = new URL('../schemas/', import.meta.url)
  await mkdir(folder, { recursive: true })
  for (const [name, text] of schemas) await writeFile(new URL(name, folder), text)
}
