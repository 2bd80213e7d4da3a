// The program from its source, as dist/cli/main.js starts it from the bundle.
import { startCli } from '../../src/bundle.ts'

await startCli()
