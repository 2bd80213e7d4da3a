// Which kinds of project there are: one line each.
import { go } from './go.ts'
import { gradle, maven } from './java.ts'
import { make } from './make.ts'
import { node } from './node.ts'
import type { Ecosystem } from './project.ts'
import { python } from './python.ts'
import { rust } from './rust.ts'

/** In the order in which their gates run. */
export const ECOSYSTEMS: readonly Ecosystem[] = [node, python, go, rust, maven, gradle]

/** Asked only where none of the others is found in the whole repository. */
export const LAST_RESORT: Ecosystem = make
