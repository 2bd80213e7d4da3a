// How a way to be wrong is written: what the agent does in each attempt, and what differs from its project.
import { JS_BROKEN, JS_SUBTRACT_TEST } from '../projects.mjs'

/** The new function works and has a test, an old one broke: what each way hides. */
export const BROKEN = { 'src/math.mjs': JS_BROKEN, 'test/subtract.test.mjs': JS_SUBTRACT_TEST }

/** `acts`: one for each attempt, or a single one. */
export const way = (name, title, acts, more = {}) => ({
  name,
  title,
  project: 'javascript',
  acts: Array.isArray(acts) ? acts : [acts],
  ...more,
})

export const lines = (...all) => `${all.join('\n')}\n`
