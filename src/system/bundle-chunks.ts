// Loads all parts of the bundle that this program runs from, so that a program that changes its files later cannot change it.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Node keeps what it has loaded by its address, and the bundle's own imports use the same ones. Nothing of a chunk runs before it is
 * needed. Returns how many there are; none if the program does not run from a bundle. `program`: the file that was started.
 */
export async function loadEveryChunk(program = process.argv[1] ?? ''): Promise<number> {
  const folder = existsSync(program) ? join(dirname(dirname(realpathSync(program))), 'bundle') : ''
  if (folder === '' || !existsSync(join(folder, 'ralph.js'))) return 0
  const chunks = readdirSync(folder).filter((name) => /^\d+\.ralph\.js$/.test(name))
  const addresses = chunks.map((name) => pathToFileURL(join(folder, name)).href)
  await Promise.all(addresses.map((address) => import(/* webpackIgnore: true */ address)))
  return chunks.length
}
