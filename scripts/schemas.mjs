// Writes schemas/: the JSON Schema of each file that people write, from the definition that reads it. A test holds them equal.
// node scripts/schemas.mjs
import { mkdir, writeFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import { prdSchema } from '../src/prd/schema.ts'

/** The file in schemas/, and the definition of what people write. */
const definitions = [['prd.schema.json', prdSchema]]

/** Draft 7 is what editors read. What the reader fills in may be left out, so it is the schema of the input. */
export const schemas = definitions.map(([name, definition]) => {
  const $id = `https://raw.githubusercontent.com/ralph/action/v1/schemas/${name}`
  const schema = { $id, ...z.toJSONSchema(definition, { io: 'input', target: 'draft-7' }) }
  return [name, `${JSON.stringify(schema, null, 2)}\n`]
})

if (import.meta.main) {
  const folder = new URL('../schemas/', import.meta.url)
  await mkdir(folder, { recursive: true })
  for (const [name, text] of schemas) await writeFile(new URL(name, folder), text)
}
