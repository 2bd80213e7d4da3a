// Browser checks: which pages are looked at, in which sizes, and by which browser.
import { tags } from './gates.ts'
import { boolean, list, orElse, orNull, seconds, structure, text, textWhere, url } from './types.ts'

const VIEWPORT = /^([1-9]\d{2,3})x([1-9]\d{2,3})$/

const page = textWhere(
  (written) => (/^https?:\/\//i.test(written) ? URL.canParse(written) : /^\/(?!\/)/.test(written)),
  'an http or https URL, or a path from the root',
  'write a path such as /cart, or a URL such as http://localhost:3000/cart',
)
const viewport = textWhere(
  (written) => VIEWPORT.test(written),
  'a width and a height in pixels, 100 to 9999 each',
  'write it as 1280x800',
)

/** `executablePath` null: found by ourselves. `tags`: as `when` of a gate. */
export const browser = structure({
  enabled: orElse(boolean, true),
  tags: orElse(tags, ['ui']),
  baseUrl: orNull(url),
  urls: orElse(list(page), []),
  viewports: orElse(list(viewport), ['1280x800']),
  accessibility: orElse(boolean, false),
  timeout: orElse(seconds, '15s'),
  executablePath: orNull(text),
  headless: orElse(boolean, true),
  screenshotDir: orNull(text),
})
