// A receiver of messages on loopback: what came, and whatever answer a test wants.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Heard = {
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: Record<string, unknown>
}
type Reply = (response: ServerResponse, nth: number) => void

export class Loopback {
  readonly heard: Heard[] = []
  reply: Reply = (response) => response.end('ok')
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      this.heard.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) })
      this.reply(response, this.heard.length)
    })
  })

  static async open(): Promise<Loopback> {
    const one = new Loopback()
    await new Promise<void>((resolve) => one.#server.listen(0, '127.0.0.1', resolve))
    return one
  }

  /** An address with a path as long as those of services are. */
  url(path = '/services/T0000000/B0000000/0123456789abcdef'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
