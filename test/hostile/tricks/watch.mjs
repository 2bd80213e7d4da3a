// Left behind without a mark: looks at the environment of every git that is started, for some seconds.
import { createHash } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { keysIn } from './look.mjs'

const [notes, pidFile] = process.argv.slice(2)
writeFileSync(pidFile, `${process.pid}\n`)
const began = Date.now()
const told = new Set()

function look() {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/comm`, 'latin1').startsWith('git')) continue
      for (const key of keysIn(readFileSync(`/proc/${pid}/environ`, 'latin1'))) {
        const found = createHash('sha256').update(key).digest('hex')
        if (!told.has(found))
          appendFileSync(
            notes,
            `${JSON.stringify({ trick: 'leave.watch', role: 'payload', found, where: 'git' })}\n`,
          )
        told.add(found)
      }
    } catch {
      // gone meanwhile, or not ours to read
    }
  }
  if (Date.now() - began < 8000) setTimeout(look, 1)
}
look()
