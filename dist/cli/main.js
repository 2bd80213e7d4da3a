#!/usr/bin/env node
import { startCli } from '../bundle/ralph.js'

await startCli()
