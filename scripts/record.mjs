// `npm run record -- claude codex`: records what these agents print again, against the model on loopback, into the fixtures.
import { record } from '../test/agents-real/record.ts'

process.exitCode = await record(process.argv.slice(2))
