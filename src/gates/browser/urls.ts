// Which pages are looked at: those that the configuration and the stories name. Pure.
import type { Story } from '../../engine/model/feature.ts'
import { originOf, PATTERN, type Site } from '../../engine/model/service.ts'

/** A page to look at. `expected`: statuses from 400 on that are no fault there. */
export type Wanted = { url: string; expected: number[] }

/** More pages than this are told, and not looked at. */
const MOST = 20

const ADDRESS = /https?:\/\/[^\s<>"'`\\^|]+/gi
/** What follows an address in a sentence. */
const AFTER = /[.,;:!?*_~)\]}'"]+$/

/** `urls`: of the configuration. */
export type Asked = Site & { urls: readonly string[] }

/** The pages, each once; `remarks` say which addresses are left out, and why. */
export function wantedPages(stories: readonly Story[], asked: Asked): { pages: Wanted[]; remarks: string[] } {
  const pages = new Map<string, Wanted>()
  const remarks: string[] = []
  const add = (url: string, statuses: readonly number[]) => {
    const known = pages.get(url)
    if (known === undefined) pages.set(url, { url, expected: [...statuses] })
    else known.expected.push(...statuses)
  }
  for (const url of asked.urls) add(new URL(url, asked.base).href, [])
  for (const { id, description, acceptanceCriteria } of stories) {
    for (const text of [description, ...acceptanceCriteria]) {
      for (const address of addressesIn(text)) {
        const origin = originOf(address)
        if (PATTERN.test(address)) remarks.push(`${id} names ${address}, a pattern: not visited`)
        else if (origin !== null && asked.origins.includes(origin))
          add(new URL(address).href, statusesIn(text.replaceAll(address, ' ')))
        else remarks.push(`${id} names ${address}, which no service answers: not visited`)
      }
    }
  }
  if (pages.size === 0) add(new URL(asked.base).href, [])
  const all = [...pages.values()]
  if (all.length > MOST)
    remarks.push(`${all.length - MOST} more pages are not visited: ${MOST} are looked at`)
  return { pages: all.slice(0, MOST), remarks: [...new Set(remarks)] }
}

/** Addresses in words, without what the sentence puts behind them. */
export function addressesIn(text: string): string[] {
  return [...text.matchAll(ADDRESS)].map(([found]) => ended(found)).filter((one) => URL.canParse(one))
}

/** `answers 404`, `returns an HTTP 404`, `status: 404 or 410`; numbers are in criteria for much else. First: `does not`. */
const STATUS =
  /((?:\b(?:not|never|cannot|longer|without|instead of)|n['’]t) (?:(?:be|give|send|an?|the) )*)?\b(?:HTTP(?:\/[\d.]+)?|status|code|answers?|returns?|responds?)\b(?:[\s:`"'*_]|\b(?:with|of|is|an?|HTTP|status|code)\b){1,12}([45]\d\d(?:(?: or |, ?|\/)[45]\d\d)*)(?![-\w%€$£]|[.,]\d| [%€$£])/gi

/** The statuses from 400 on that the words speak of: a page that they name may answer so, too. */
function statusesIn(words: string): number[] {
  return [...words.matchAll(STATUS)].flatMap(([, not, numbers = '']) =>
    not === undefined ? (numbers.match(/\d+/g) ?? []).map(Number) : [],
  )
}

/** A bracket that was opened in the address belongs to it. */
function ended(address: string): string {
  const cut = address.replace(AFTER, '')
  const rest = address.slice(cut.length)
  const isOpen = /\([^)]*$/.test(cut) && rest.startsWith(')')
  return isOpen ? `${cut})` : cut
}
