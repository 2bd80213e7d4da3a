// A package index for pip as it was at a time: PyPI's, without the files that were uploaded later. pip can leave them out itself only since
// version 26 (--uploaded-prior-to), and `python -m venv` installs an older one.
// Run: node bench/init-index.mjs TIME. Prints its address, and serves until it is stopped.
import { createServer } from 'node:http'

const until = new Date(process.argv[2])
const UPSTREAM = process.env.BENCH_INDEX ?? 'https://pypi.org/simple'
const TYPE = 'application/vnd.pypi.simple.v1+json'

/** Pages by package: every environment of tox asks for the same ones. */
const pages = new Map()

async function pageOf(name) {
  const got = await fetch(`${UPSTREAM}/${name}/`, { headers: { accept: TYPE } })
  if (!got.ok) return { status: got.status, text: '' }
  const { files, ...index } = await got.json()
  // A file without a time is served: to leave it out would make packages disappear.
  const older = files.filter((file) => !(new Date(file['upload-time']) > until))
  return { status: 200, text: JSON.stringify({ ...index, files: older }) }
}

const server = createServer(async ({ url }, answer) => {
  const [, name] = /^\/simple\/([\w.-]+)\/?$/.exec(url) ?? []
  try {
    if (name === undefined) throw new Error(`not an address of a package: ${url}`)
    const { status, text } = pages.get(name) ?? (await pageOf(name))
    if (status === 200) pages.set(name, { status, text })
    answer.writeHead(status, { 'content-type': TYPE }).end(text)
  } catch (error) {
    answer.writeHead(502).end(String(error.message))
  }
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/simple`))
