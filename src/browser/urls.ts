// Which pages are looked at: those that the configuration and the stories name. Pure.
import { originOf, PATTERN, type Site } from '../model/address.ts'
import type { Story } from '../model/feature.ts'
import { statusesIn } from './statuses.ts'

/** A page to look at. `expected`: the statuses that words beside its address name, one below 400 for all of those; none: those. */
export type Wanted = { url: string; expected: number[] }

/** More pages than this are told, and not looked at. */
const MOST = 20

const ADDRESS = /https?:\/\/[^\s<>"'`\\^|]+/gi
/** What follows an address in a sentence. */
const AFTER = /[.,;:!?*_~)\]}'"]+$/
/** Between addresses of which one thing is said. */
const AND = /^[\s,&/`"'*_()]*(?:(?:and|or)[\s`"'*_(]*)?$/i

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
      for (const { address, statuses } of mentionsIn(text)) {
        const origin = originOf(address)
        if (PATTERN.test(address)) remarks.push(`${id} names ${address}, a pattern: not visited`)
        else if (origin !== null && asked.origins.includes(origin)) add(new URL(address).href, statuses)
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
  return placesIn(text).map(({ address }) => address)
}

function placesIn(text: string): { address: string; start: number; end: number }[] {
  return [...text.matchAll(ADDRESS)].flatMap(({ 0: found, index: start }) => {
    const address = ended(found)
    return URL.canParse(address) ? [{ address, start, end: start + address.length }] : []
  })
}

/** Each address with the statuses that its part of the sentence names; those with nothing but `and` between them share one. */
function mentionsIn(text: string): { address: string; statuses: number[] }[] {
  const places = placesIn(text)
  const found: { address: string; statuses: number[] }[] = []
  let shared: string[] = []
  let before = text.slice(0, places[0]?.start)
  for (const [at, { address, end }] of places.entries()) {
    const next = places[at + 1]
    const after = text.slice(end, next?.start)
    shared.push(address)
    if (next !== undefined && AND.test(after)) continue
    // What the next sentence says before it names its address is of that one.
    const stop = next === undefined ? -1 : after.search(/[.;!?]\s|\n/)
    const statuses = statusesIn(`${before} ; ${stop < 0 ? after : after.slice(0, stop)}`)
    found.push(...shared.map((one) => ({ address: one, statuses })))
    shared = []
    before = stop < 0 ? '' : after.slice(stop + 1)
  }
  return found
}

/** A bracket that was opened in the address belongs to it. */
function ended(address: string): string {
  const cut = address.replace(AFTER, '')
  const rest = address.slice(cut.length)
  const isOpen = /\([^)]*$/.test(cut) && rest.startsWith(')')
  return isOpen ? `${cut})` : cut
}
