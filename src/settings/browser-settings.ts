// Browser checks: which pages are looked at, in which sizes, and by which browser.
import * as z from 'zod/mini'
import { PATTERN } from '../engine/model/service.ts'
import { tags } from './gate-settings.ts'
import * as v from './values.ts'

const VIEWPORT = /^([1-9]\d{2,3})x([1-9]\d{2,3})$/

const page = v
  .textWhere(
    (written) => (/^https?:\/\//i.test(written) ? URL.canParse(written) : /^\/(?!\/)/.test(written)),
    'an http or https URL, or a path that starts with /',
    'write a path such as /cart, or a URL such as http://localhost:3000/cart',
  )
  .check(
    v.check(
      (written) => !PATTERN.test(written.replace(/^https?:\/\/[^/]*|[?#].*/gi, '')),
      v.expects('the address of one page, without wildcards', 'write a path such as /users/1'),
    ),
  )
const size = v.expects('a width and a height in pixels, 100 to 9999 each', 'write it as 1280x800')
const viewport = z.string(size).check(v.check((written) => VIEWPORT.test(written), size))

/** `executablePath` null: Ralph looks for a browser. `tags`: as `when` of a gate. `screenshotDir`: a key of the agent-agnostic Ralph. */
const shape = {
  enabled: v.withDefault(v.boolean, true),
  tags: v.withDefault(tags, ['ui']),
  baseUrl: v.orNull(v.url),
  urls: v.withDefault(v.list(page), []),
  viewports: v.withDefault(v.list(viewport), ['1280x800']),
  accessibility: v.withDefault(v.boolean, false),
  timeout: v.withDefault(v.seconds, '15s'),
  executablePath: v.orNull(v.text),
  headless: v.withDefault(v.boolean, true),
  screenshotDir: v.orNull(v.text),
}
export const browser = v.structure(shape, { unlisted: ['screenshotDir'] })
