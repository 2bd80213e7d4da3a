// Browser checks: which pages are looked at, in which sizes, and by which browser.
import * as z from 'zod/mini'
import { PATTERN } from '../model/address.ts'
import { tags } from './gates.ts'
import {
  boolean,
  expects,
  list,
  orElse,
  orNull,
  passes,
  seconds,
  structure,
  text,
  textWhere,
  url,
} from './types.ts'

const VIEWPORT = /^([1-9]\d{2,3})x([1-9]\d{2,3})$/

const page = textWhere(
  (written) => (/^https?:\/\//i.test(written) ? URL.canParse(written) : /^\/(?!\/)/.test(written)),
  'an http or https URL, or a path from the root',
  'write a path such as /cart, or a URL such as http://localhost:3000/cart',
).check(
  passes(
    (written) => !PATTERN.test(written.replace(/^https?:\/\/[^/]*|[?#].*/gi, '')),
    expects('a page, and no pattern', 'write the path of one page, such as /users/1'),
  ),
)
const size = expects('a width and a height in pixels, 100 to 9999 each', 'write it as 1280x800')
const viewport = z.string(size).check(passes((written) => VIEWPORT.test(written), size))

/** `executablePath` null: found by ourselves. `tags`: as `when` of a gate. `screenshotDir` is of another Ralph. */
const shape = {
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
}
export const browser = structure(shape, { unlisted: ['screenshotDir'] })
