// Services in a whole run of the bundle: an attempt that breaks one is refused with its words, and nothing of them is left.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { freePort } from '../fakes/clone.ts'
import { place } from './laptop.ts'

const server = (page: string) => `import { createServer } from 'node:http'
createServer((request, response) => {
  const name = new URL(request.url, 'http://x').searchParams.get('name')
  response.end(${page})
}).listen(process.env.PORT, () => console.log('listening'))
`
const story = {
  id: 'US-001',
  title: 'Greet by name',
  description: 'd',
  acceptanceCriteria: ['the page greets'],
  priority: 1,
}

test('an attempt that breaks a service is rejected with the end of its log, the next one fixes it, and no service is left running', async () => {
  const port = await freePort()
  const keeper = `ralph-keeper-${process.pid}`
  const config = `gates:
  page: node check.mjs
services:
  web: { start: node server.mjs, ready: "http://localhost:${port}/?name=x", environment: { PORT: ${port} } }
  keeper: { start: "exec -a ${keeper} bash -c 'echo up; read < <(sleep 600)'", ready: { log: up }, restartBeforeVerify: false }
`
  const check = `const answer = await fetch('http://localhost:${port}/')
if (!(await answer.text()).startsWith('hello')) process.exit(1)
`
  const prd = { schemaVersion: 2, project: 'web', userStories: [story] }
  await using at = await place(
    {
      'ralph.config.yml': config,
      'server.mjs': server("'hello'"),
      'check.mjs': check,
      '.ralph/2026-01-31-web/prd.json': JSON.stringify(prd),
    },
    {
      'US-001': [
        { files: { 'server.mjs': server("'hello ' + name.trim()") } },
        { files: { 'server.mjs': server("'hello ' + (name ?? 'you').trim()") } },
      ],
    },
  )
  const { code, out, err } = await at.ralph(['run', 'web'])
  assert.equal(code, 0, `${out}\n${err}`)
  assert.match(out, /\[service web\] starting/)
  assert.match(out, /\[service web\] FAILED \(ended \(exit 1\) while gate page ran/)
  const [, second = ''] = await at.prompts()
  assert.match(second, /service web ended \(exit 1\) while gate page ran/)
  assert.match(second, /TypeError: Cannot read properties of null \(reading 'trim'\)/)
  assert.match(at.git('show', 'ralph/web:server.mjs'), /\?\? 'you'/)
  assert.equal(
    out.match(/\[service keeper\] starting/g)?.length,
    2,
    'once for the run, and once for the whole',
  )
  const left = readdirSync('/proc').filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return line.startsWith(keeper) || line.includes('server.mjs')
    } catch {
      return false
    }
  })
  assert.deepEqual(left, [])
})
