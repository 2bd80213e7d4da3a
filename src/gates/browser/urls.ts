// Which pages are visited: those that the configuration and the stories name. Pure.
import type { Story } from '../../engine/model/feature.ts'
import { originOf, PATTERN, type Site } from '../../engine/model/service.ts'

/** A page to visit. `expected`: statuses from 400 on that are not faults there. */
export type PageAddress = { url: string; expected: number[] }

/** Further pages are not visited, and a remark gives their number. */
const MOST = 20

const ADDRESS = /https?:\/\/[^\s<>"'`\\^|]+/gi
/** Punctuation that may follow an address in a sentence. */
const SENTENCE_END = /[.,;:!?*_~)\]}'"]+$/

/** The site, and the `urls` that the configuration names, absolute or relative to its base. */
export type ConfiguredSite = Site & { urls: readonly string[] }

/** The pages, each once; `remarks` name the addresses that are left out, with the reason. */
export function selectPages(
  stories: readonly Story[],
  site: ConfiguredSite,
): { pages: PageAddress[]; remarks: string[] } {
  const pages = new Map<string, PageAddress>()
  const remarks: string[] = []
  const add = (url: string, statuses: readonly number[]) => {
    const known = pages.get(url)
    if (known === undefined) pages.set(url, { url, expected: [...statuses] })
    else known.expected.push(...statuses)
  }
  for (const url of site.urls) add(new URL(url, site.base).href, [])
  for (const { id, description, acceptanceCriteria } of stories) {
    for (const text of [description, ...acceptanceCriteria]) {
      for (const address of findAddresses(text)) {
        const origin = originOf(address)
        if (PATTERN.test(address))
          remarks.push(`${id} names ${address}, which is a pattern, so it was not visited`)
        else if (origin !== null && site.origins.includes(origin))
          add(new URL(address).href, findExpectedStatuses(text.replaceAll(address, ' ')))
        else remarks.push(`${id} names ${address}, but no service answers there, so it was not visited`)
      }
    }
  }
  if (pages.size === 0) add(new URL(site.base).href, [])
  const all = [...pages.values()]
  if (all.length > MOST)
    remarks.push(`${all.length - MOST} more pages were not visited: Ralph visits at most ${MOST}`)
  return { pages: all.slice(0, MOST), remarks: [...new Set(remarks)] }
}

/** The addresses in a text, without the punctuation of the sentence around them. */
export function findAddresses(text: string): string[] {
  return [...text.matchAll(ADDRESS)].map(([found]) => trimAddress(found)).filter((one) => URL.canParse(one))
}

/**
 * `answers 404`, `returns an HTTP 404`, `status: 404 or 410`: criteria also hold numbers with other meanings, so a word about
 * answers must come before. The first group is a negation such as `does not`.
 */
const STATUS =
  /((?:\b(?:not|never|cannot|longer|without|instead of)|n['’]t) (?:(?:be|give|send|an?|the) )*)?\b(?:HTTP(?:\/[\d.]+)?|status|code|answers?|returns?|responds?)\b(?:[\s:`"'*_]|\b(?:with|of|is|an?|HTTP|status|code)\b){1,12}([45]\d\d(?:(?: or |, ?|\/)[45]\d\d)*)(?![-\w%€$£]|[.,]\d| [%€$£])/gi

/** The statuses from 400 on that a criterion expects: the pages that it names may answer with them. */
function findExpectedStatuses(words: string): number[] {
  return [...words.matchAll(STATUS)].flatMap(([, not, numbers = '']) =>
    not === undefined ? (numbers.match(/\d+/g) ?? []).map(Number) : [],
  )
}

/** The address without trailing punctuation; a closing bracket stays if the address opens it. */
function trimAddress(address: string): string {
  const cut = address.replace(SENTENCE_END, '')
  const rest = address.slice(cut.length)
  const isOpen = /\([^)]*$/.test(cut) && rest.startsWith(')')
  return isOpen ? `${cut})` : cut
}
