// A small web application whose pages each do one thing wrong, and what a check says of them.

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GateResult } from '../../../../src/engine/model/gate.ts'
import { originOf } from '../../../../src/engine/model/service.ts'
import { checkPages, type PagesOptions } from '../../../../src/gates/browser/browser-check.ts'
import { findChrome } from '../../../../src/gates/browser/find.ts'
import { selectPages } from '../../../../src/gates/browser/urls.ts'

type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void)

export const html = (body: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>Shop</title>${head}</head><body>${body}</body></html>`

/** Path to what is answered; `asked` are the paths that were asked for. */
export async function site(pages: Readonly<Record<string, Answer>>, host = '127.0.0.1') {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    asked.push(path)
    const page = pages[path]
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' })
    response.end(page ?? html('not here'))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://localhost:${port}`
  return {
    url,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Looks at these paths of a site. `pictures` are what was kept, by id. */
export async function look(
  url: string,
  paths: readonly string[],
  more: Partial<PagesOptions> = {},
): Promise<GateResult & { pictures: Map<string, Buffer> }> {
  const pictures = new Map<string, Buffer>()
  const origins = [originOf(url) ?? '']
  const result = await checkPages({
    executable: more.executable ?? findChrome(null, process.env),
    headless: true,
    env: { PATH: process.env.PATH ?? '', HOME: '/nowhere' },
    as: null,
    signal: new AbortController().signal,
    ...selectPages([], { origins, base: url, urls: paths }),
    viewports: ['1280x800'],
    origins,
    accessibility: false,
    pictureBytes: 60 * 1024,
    pageTimeoutMs: 15_000,
    timeoutMs: 300_000,
    before: [],
    redact: (text) => text,
    async keep(picture) {
      const id = createHash('sha1').update(picture).digest('hex')
      pictures.set(id, picture)
      return id
    },
    ...more,
  })
  return { ...result, pictures }
}
