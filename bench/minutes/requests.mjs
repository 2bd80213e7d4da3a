// What the requests of a run say: how many there are, of which kind, and how long a job takes until its first session.

/** A request that posts, changes or looks for checks: how many there are is a matter of gates, not of iterations. */
const isOfChecks = ({ path }) => /\/check-(?:runs|suites)/.test(path)
/** actions/checkout asks without `.git`, and comes before Ralph. */
const isOfCheckout = ({ kind, path }) => kind === 'git' && !path.includes('.git/')

/** Lines of figures; `starts`: when each session began, in milliseconds. A push and a fetch are two requests each. */
export function requestFigures({ github, runner }, starts) {
  const ofJobs = github.requests.filter(({ job }) => job !== null)
  const own = ofJobs.filter((request) => !isOfCheckout(request))
  const others = own.filter((request) => !isOfChecks(request))
  const git = others.filter(({ kind }) => kind === 'git').length
  const total = `${own.length} requests: ${own.length - others.length} of checks, ${git} of git, ${others.length - git} others`
  const jobs = runner.runs.map(({ id }) => {
    const [began = 0] = ofJobs.filter(({ job }) => job.runId === id).map(({ at }) => at)
    const mine = others.filter(({ job }) => job.runId === id).map(({ at }) => at)
    const sessions = starts.filter((at) => at >= began && at <= (mine.at(-1) ?? 0))
    const [first = began, last = began] = [sessions[0], sessions.at(-1)]
    // Between the starts of two sessions there is what an iteration asks; the rest is the job's.
    const each = mine.filter((at) => at >= first && at < last).length / Math.max(sessions.length - 1, 1)
    const rest = mine.length - each * sessions.length
    const seconds = ((first - began) / 1000).toFixed(1)
    return `job: first session after ${seconds} s; ${sessions.length} sessions; requests beside checks: ${each.toFixed(1)} an iteration, ${rest.toFixed(0)} for the job`
  })
  return [total, ...jobs]
}
