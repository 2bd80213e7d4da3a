// Left behind without a mark: answers at a socket that has no file, and at a port of loopback, for a minute.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'

const [word, pidFile, portFile] = process.argv.slice(2)
const open = (where, then) => createServer((socket) => socket.end('green')).listen(where, then)
const port = open({ host: '127.0.0.1', port: 0 }, () => {
  writeFileSync(portFile, String(port.address().port))
  open({ path: `\0${word}` }, () => writeFileSync(pidFile, `${process.pid}\n`))
})
setTimeout(() => process.exit(), 60_000)
