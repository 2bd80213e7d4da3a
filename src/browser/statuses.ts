// The HTTP statuses that a sentence expects of a page. Numbers are in criteria for much else, so that one counts beside the
// words of HTTP alone. Pure.

const BEHIND = /[\s:=`"'*_(]+|\b(?:with|of|is|be|a|an|the|either|HTTP|status|code|error)\b/
/** `answers 404`, `responds with an HTTP status of 404`, `status: 404 or 410`. */
const NAMED = new RegExp(
  String.raw`\b(?:HTTP(?:/[\d.]+)?|status|code|answer(?:s|ed|ing)?|return(?:s|ed|ing)?|respond(?:s|ed|ing)?|gives?|sends?)\b` +
    String.raw`(?:${BEHIND.source}){1,12}\b([2-5]\d\d(?:(?:\s*[,/]\s*|\s+or\s+)[2-5]\d\d\b)*)(?![-\w%€$£]|[.,]\d|\s*[%€$£])`,
  'giu',
)
const NOT = /(?:\b(?:not?|never|cannot|longer|instead of|rather than|nor|without)|n['’]t)\s+(?:\p{L}+\s+)?$/iu
const OF_HTTP = /HTTP|status|code/i
/** A number and a noun are a count: `returns 500 products`. */
const COUNTED =
  /^[\s`"'*_)]+(?!(?:and|or|but|when|if|unless|for|without|until|after|before|while|once|to|on|in|as|at|by|from|where|because|with|instead|not|status|code|error|response)\b)\p{Ll}/u
/** The browser may not be what they speak of. */
const CONDITION = /\b(?:when(?:ever)?|if|unless|until|while|once|without)\b/i
const CONDITION_BEHIND = /^[\s`"'*_)]*(?:\([^)]*\)\s*|\p{Lu}\p{L}*\s+)*(?:for|to|on|after|before)\b/u

/** Those that the words name; 200 where they name none, and beside those that hold on a condition. */
export function statusesIn(words: string): number[] {
  const found = [...words.matchAll(NAMED)].flatMap(({ 0: all, 1: numbers = '', index }) => {
    const after = words.slice(index + all.length)
    const isCount = !OF_HTTP.test(all) && COUNTED.test(after)
    if (isCount || NOT.test(words.slice(0, index))) return []
    const statuses = (numbers.match(/\d+/g) ?? []).map(Number)
    return CONDITION.test(words) || CONDITION_BEHIND.test(after) ? [...statuses, 200] : statuses
  })
  return found.length === 0 ? [200] : [...new Set(found)]
}
