// A hostile agent tries everything that we could think of; docs/security.md has the same table.
import test from 'node:test'
import { judge, prove, table } from '../hostile/prove.ts'

test('same-user: every attempt is stopped, or known to be open', async () => {
  const results = await prove('same-user')
  process.stdout.write(table([{ level: 'same-user', results }]))
  judge(results, [])
})
