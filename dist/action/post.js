import { startPost } from '../bundle/ralph.js'

await startPost()
