// The pages that people read: README, the others at the top, and docs/, with what stands in each.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lexer, type Token, type Tokens, walkTokens } from 'marked'
import { ROOT } from '../../e2e/site.ts'

export type Block = { lang: string; text: string; line: number }
/** `path` from the root; `anchors` as GitHub makes them of headings. */
export type Page = { path: string; text: string; blocks: Block[]; links: string[]; anchors: Set<string> }

export async function readPages(): Promise<Page[]> {
  const paths: string[] = []
  for await (const path of glob(['*.md', 'docs/**/*.md'], { cwd: ROOT })) paths.push(path)
  return Promise.all(paths.sort().map(readPage))
}

async function readPage(path: string): Promise<Page> {
  const text = await readFile(join(ROOT, path), 'utf8')
  const blocks: Block[] = []
  const links: string[] = []
  const anchors = new Set<string>()
  let from = 0
  walkTokens(lexer(text), (token: Token) => {
    if (token.type === 'code') {
      const { lang = '', text: inside, raw } = token as Tokens.Code
      const at = text.indexOf(raw.split('\n')[0] ?? '', from)
      blocks.push({ lang, text: inside, line: text.slice(0, at).split('\n').length })
      from = at + 1
    } else if (token.type === 'link' || token.type === 'image') {
      links.push((token as Tokens.Link).href)
    } else if (token.type === 'html') {
      links.push(...[...token.raw.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, href = '']) => href))
    } else if (token.type === 'heading') {
      const slug = slugOf(token as Tokens.Heading)
      const taken = [...anchors].filter((one) => one === slug || one.replace(/-\d+$/, '') === slug).length
      anchors.add(taken === 0 ? slug : `${slug}-${taken}`)
    }
  })
  return { path, text, blocks, links, anchors }
}

/** As GitHub's html-pipeline does: lower case, words alone, a dash for each blank. */
function slugOf({ tokens }: Tokens.Heading): string {
  const plain = (all: readonly Token[]): string =>
    all
      .map((one) => ('tokens' in one && one.tokens ? plain(one.tokens) : 'text' in one ? one.text : ''))
      .join('')
  return plain(tokens)
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
