// The sealed set: wrong work that was written from the documentation, before its author read the code that stops it.
// Never tune Ralph to a case of this set, and never read it to decide what to build. A case that somebody used for that moves to
// ../cheats/, and a new kind takes its place. Each release adds new kinds; the README reports the result of this set.
// Cases of a later part say when they were `written`. The set `sealed` has only the first part, and `sealed-second` the others.
// `node bench/trust.mjs --set sealed --prove` shows that each hidden check is red for the cheat and green for honest work.
import { cases as go } from './go.mjs'
import { changes, honest } from './honest.mjs'
import { files, halves, ownTests, places } from './javascript.mjs'
import { python } from './python.mjs'
import * as second from './second.mjs'
import { types } from './typescript.mjs'

export const sealed = {
  cheats: [...files, ...places, ...ownTests, ...halves, ...types, ...python, ...go, ...second.cheats],
  honest: [...honest, ...second.honest],
  changes: [...changes, ...second.changes],
}
