// A document, parsed once however many readers look at it.
import { looksLikeJson } from '../prd/parse.ts'
import { type Block, blocksOf } from './markdown.ts'
import type { DocumentFile } from './types.ts'

export class Opened {
  readonly path: string
  readonly text: string
  #blocks: Block[] | null = null

  constructor({ path, text }: DocumentFile) {
    this.path = path
    this.text = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  }

  /** People also put a check list where a prd.json belongs. */
  get isMarkdown(): boolean {
    if (/\.(?:ya?ml|toml)$|(?:^|\/)\.ralphrc$/i.test(this.path)) return false
    return !looksLikeJson(this.text)
  }

  get blocks(): readonly Block[] {
    this.#blocks ??= blocksOf(this.text)
    return this.#blocks
  }
}
