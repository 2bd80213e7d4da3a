// A real browser for pages of ours: what a page asks for, what runs in it, and what it is made of. Spoken to over a pipe.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { findChrome } from '../../../src/gates/browser/find.ts'
import { lacks } from '../../machine/needs.ts'

/** For the options of a test. */
export const skip = lacks('chrome')

type Message = { id?: number; method?: string; sessionId?: string; params?: Answer; result?: Answer }
type Answer = Record<string, unknown>

/** What became of a page: addresses that it asked for beside its own, dialogs that scripts opened, refusals of its policy. */
export type Seen = { requests: string[]; dialogs: string[]; said: string[]; dom: Dom; pdf: Buffer }
type Dom = { tags: string[]; attributes: string[]; links: string[]; title: string; text: string }

const LOOK = `(() => {
  const all = [...document.querySelectorAll('*')]
  const attributes = all.flatMap((one) => one.getAttributeNames())
  return {
    tags: [...new Set(all.map((one) => one.localName))].sort(),
    attributes: [...new Set(attributes)].sort(),
    links: [...document.querySelectorAll('[href],[src]')].map((one) => one.getAttribute('href') ?? one.getAttribute('src')),
    title: document.title,
    text: document.body.innerText,
  }
})()`

export class Chromium implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #waiting = new Map<number, (result: Answer) => void>()
  readonly #heard: Message[] = []
  #onLoad = () => {}
  #last = 0
  #session = ''

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child
    this.#folder = folder
    let rest = ''
    ;(child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\0')
      rest = parts.pop() ?? ''
      for (const part of parts) this.#hear(JSON.parse(part))
    })
  }

  static async open(): Promise<Chromium> {
    const folder = await mkdtemp(join(tmpdir(), 'ralph-chromium-'))
    const args = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-pipe',
      `--user-data-dir=${folder}`,
    ]
    const child = spawn(findChrome(null, process.env), args, {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    const browser = new Chromium(child, folder)
    const { targetId } = await browser.#ask('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await browser.#ask('Target.attachToTarget', { targetId, flatten: true })
    browser.#session = String(sessionId)
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await browser.#ask(`${domain}.enable`)
    return browser
  }

  /** Loads the page from disk and looks at it. */
  async look(html: string, { pdf = false } = {}): Promise<Seen> {
    const file = join(this.#folder, 'page.html')
    await writeFile(file, html)
    this.#heard.length = 0
    const loaded = new Promise<void>((resolve) => {
      this.#onLoad = resolve
    })
    const url = pathToFileURL(file).href
    await this.#ask('Page.navigate', { url })
    await loaded
    const { result } = await this.#ask('Runtime.evaluate', { expression: LOOK, returnByValue: true })
    const printed = pdf ? String((await this.#ask('Page.printToPDF', { printBackground: false })).data) : ''
    const of = (method: string) =>
      this.#heard.filter((one) => one.method === method).map(({ params }) => JSON.stringify(params))
    const requests = this.#heard.flatMap(({ method, params }) => {
      const asked = (params?.request as { url?: string } | undefined)?.url ?? ''
      return method === 'Network.requestWillBeSent' && asked !== url && !asked.startsWith('data:')
        ? [asked]
        : []
    })
    return {
      requests,
      dialogs: of('Page.javascriptDialogOpening'),
      said: [...of('Runtime.consoleAPICalled'), ...of('Runtime.exceptionThrown'), ...of('Log.entryAdded')],
      dom: (result as { value: Dom }).value,
      pdf: Buffer.from(printed, 'base64'),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGKILL')
    await gone
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 })
  }

  #ask(method: string, params: Answer = {}): Promise<Answer> {
    this.#last += 1
    const id = this.#last
    const session = this.#session === '' ? {} : { sessionId: this.#session }
    ;(this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  #hear(message: Message): void {
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.(message.result ?? {})
      return
    }
    this.#heard.push(message)
    if (message.method === 'Page.loadEventFired') this.#onLoad()
    // A dialog holds the page until somebody answers.
    if (message.method === 'Page.javascriptDialogOpening')
      void this.#ask('Page.handleJavaScriptDialog', { accept: false })
  }
}
