// The rooms of src as a picture for docs/internals/architecture.md, made of the table that the imports are held to. Of the arrows only those are
// drawn that no longer way stands for. Run: node scripts/rooms.mjs; prints Mermaid.
import { fileURLToPath } from 'node:url'
import { ROOMS } from '../.dependency-cruiser.mjs'

/** By room, those that it may import; a folder with a line of its own (engine/model) is its room's. @returns {string} Mermaid */
export function picture(table = ROOMS) {
  const roomOf = (name) => name.split('/')[0]
  const rooms = [...new Set(Object.keys(table).map(roomOf))]
  const below = (room) => {
    const names = Object.keys(table).filter((name) => roomOf(name) === room)
    const imported = names.flatMap((name) => table[name]).filter((name) => name in table)
    return [...new Set(imported.map(roomOf))].filter((other) => other !== room)
  }
  const reaches = (from, to) => below(from).some((next) => next === to || reaches(next, to))
  const arrows = rooms.flatMap((room) =>
    below(room)
      .filter((to) => !below(room).some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${room} --> ${to}`),
  )
  // One file of a room that may be imported alone.
  const files = Object.entries(table).flatMap(([name, names]) =>
    names
      .filter((to) => to.endsWith('.ts') && !reaches(roomOf(name), roomOf(to)))
      .map((to) => `  ${roomOf(name)} -. ${to.split('/').at(-1)} .-> ${roomOf(to)}`),
  )
  return ['flowchart TD', ...arrows.reverse(), ...files, ''].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(picture())
