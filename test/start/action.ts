// The program from its source, as dist/action/main.js starts it from the bundle.
import { startAction } from '../../src/bundle.ts'

await startAction()
