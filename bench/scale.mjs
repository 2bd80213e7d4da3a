// How the decision, prd.json and a checkpoint's text grow: 10,000 stories. Run with Node 24: node_modules/.bin/node bench/scale.mjs.
// Prints figures; asserts nothing.
import { parsePrd } from '../src/prd/parse.ts'
import { pickStory } from '../src/prd/select.ts'
import { serializePrd } from '../src/prd/serialize.ts'

const userStories = Array.from({ length: 10_000 }, (_, index) => ({
  id: `US-${index}`,
  title: `Story ${index}`,
  description: 'As a user I want it',
  acceptanceCriteria: ['one', 'two'],
  dependsOn: index === 0 ? [] : [`US-${index - 1}`],
  priority: 10_000 - index,
  passes: index < 5_000,
}))
const text = JSON.stringify({ schemaVersion: 2, userStories })
const parsed = parsePrd(text, 'prd.json')
if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))

function median(act) {
  const times = Array.from({ length: 15 }, () => {
    const began = performance.now()
    act()
    return performance.now() - began
  })
  return times.sort((one, other) => one - other)[7].toFixed(1)
}

process.stdout.write(`10,000 stories, read: ${median(() => parsePrd(text, 'prd.json'))} ms\n`)
process.stdout.write(`10,000 stories, written: ${median(() => serializePrd(parsed.prd))} ms\n`)
process.stdout.write(`10,000 stories, the next one: ${median(() => pickStory(parsed.prd))} ms\n`)
