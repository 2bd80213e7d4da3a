// Looks a program up as a shell would, only in the absolute folders of a PATH.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** The first executable file of this name in the absolute folders of `path`, or null. */
export function findProgram(program: string, path: string): string | null {
  const directories = program.includes('/')
    ? ['']
    : path.split(delimiter).filter((entry) => isAbsolute(entry))
  for (const directory of directories) {
    const file = join(directory, program)
    try {
      accessSync(file, constants.X_OK)
      if (statSync(file).isFile()) return file
    } catch {
      // not here
    }
  }
  return null
}
