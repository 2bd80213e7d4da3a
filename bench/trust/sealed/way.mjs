// How a case of the sealed set is written: one act of the agent, and what differs from its project.
export { lines } from '../cheats/way.mjs'

/** A function that makes cases of one project; `files`: what the agent always leaves. */
export const inProject =
  (project, always = {}) =>
  (name, title, { files = {}, ...act }, more = {}) => ({
    name,
    title,
    project,
    acts: [{ ...act, files: { ...always, ...files } }],
    ...more,
  })

/** A story of its own for a case. */
export const asks = (title, ...criteria) => ({ title, criteria })
