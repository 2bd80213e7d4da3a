// Saves a state of many stories once more, with one of them passed: the process that many-stories.test.ts looks at.
import { openStore } from './many-stories.ts'

const [top = '', folder = ''] = process.argv.slice(2)
const { store, close } = await openStore(top)
const found = await store.load(folder)
if (found === null) throw new Error(`there is no state of ${folder}`)
const { prd } = found.state
const userStories = prd.userStories.map((one, index) => (index === 700 ? { ...one, passes: true } : one))
await store.save({ ...found.state, generation: 2, prd: { ...prd, userStories } })
close()
