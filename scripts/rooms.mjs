// The rooms of src as a picture for docs/architecture.md, made of the table that the imports are held to. Of the arrows only those are
// drawn that no longer way stands for. Run: node scripts/rooms.mjs; prints Mermaid.
import { fileURLToPath } from 'node:url'
import { ROOMS } from '../.dependency-cruiser.mjs'

/** By room, those that it may import. @returns {string} Mermaid */
export function picture(table = ROOMS) {
  const below = (room) => table[room].filter((name) => name in table)
  const reaches = (from, to) => below(from).some((next) => next === to || reaches(next, to))
  const arrows = Object.keys(table).flatMap((room) =>
    below(room)
      .filter((to) => !below(room).some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${room} --> ${to}`),
  )
  return ['flowchart TD', ...arrows.reverse(), ''].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(picture())
