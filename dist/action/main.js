import { startAction } from '../bundle/ralph.js'

await startAction()
