// Tricks that speak to the runner, from the agent's output and from a gate's. Each says `heard` and its own name.
import { setTimeout as delay } from 'node:timers/promises'

const out = (text) => new Promise((resolve) => process.stdout.write(text, resolve))
const err = (text) => new Promise((resolve) => process.stderr.write(text, resolve))
const both = async (text) => {
  await out(text)
  await err(text)
}
const heard = (trick) => `heard ${trick}`

export const speaking = {
  'speak.error': ({ trick }) =>
    both(
      `::error::${heard(trick)}\n::warning file=a.mjs,line=1::${heard(trick)}\n::notice::${heard(trick)}\n`,
    ),
  'speak.legacy': ({ trick }) => both(`all is well ##[error]${heard(trick)}\n##[warning]${heard(trick)}\n`),
  'speak.output': () =>
    both('::set-output name=outcome::heard\nfine ##[set-output name=stories-passed]heard\n'),
  'speak.state': () => both('::save-state name=heard::heard\n::save-state name=finished::heard\n'),
  'speak.env': () => both('::set-env name=HEARD::heard\n::add-path::/heard\n##[set-env name=HEARD]heard\n'),
  'speak.mask': () => both('::add-mask::sample\n##[add-mask]sample\n'),
  'speak.matcher'({ write, evidence, plan }) {
    const file = `${evidence ?? plan.evidence}/matcher.json`
    write(
      file,
      JSON.stringify({ problemMatcher: [{ owner: 'x', pattern: [{ regexp: '(.*)', message: 1 }] }] }),
    )
    return both(`::add-matcher::${file}\n`)
  },
  async 'speak.split'({ trick }) {
    for (const part of ['::er', 'ror', `::${heard(trick)}`, '\n']) {
      await out(part)
      await delay(15)
      await err(part)
    }
  },
  'speak.return': ({ trick }) => both(`50 %\r::error::${heard(trick)}\r\n\r::error::${heard(trick)}\r`),
  'speak.blanks': ({ trick }) =>
    both(
      `  \t::error::${heard(trick)}\n\u00a0::error::${heard(trick)}\n\u0085::error::${heard(trick)}\n\u2028::error::${heard(trick)}\n`,
    ),
  'speak.invisible': ({ trick }) =>
    both(
      `\u200b::error::${heard(trick)}\n:\u200d:error::${heard(trick)}\n\ufeff::error::${heard(trick)}\n#\u00ad#[error]${heard(trick)}\n`,
    ),
  'speak.colours': ({ trick }) =>
    both(
      `\u001b[2K::error::${heard(trick)}\n\u001b]0;x\u0007::error::${heard(trick)}\n:\u001b[0m:error::${heard(trick)}\n#\u001b[1m#[error]${heard(trick)}\n`,
    ),
  'speak.long': ({ trick }) =>
    out(`${'x'.repeat(65_536)}::error::${heard(trick)}\n${'x'.repeat(65_528)}##[error]${heard(trick)}\n`),
  'speak.json': ({ trick }) =>
    both(
      `${JSON.stringify({ type: 'text', text: `::error::${heard(trick)}\n::error::${heard(trick)}` })}\n${JSON.stringify({ type: 'result', result: `##[error]${heard(trick)}` })}\n`,
    ),
  'speak.words': ({ trick }) =>
    out(
      `<ralph>LEARNING:::error::${heard(trick)}</ralph>\n<ralph>LEARNING:ok\n::error::${heard(trick)}</ralph>\n`,
    ),
  'speak.stop': () => both('::stop-commands::heard\n##[stop-commands]heard\n'),
  'speak.group': () => both('::group::heard\n::endgroup::\n::echo::on\n::debug::heard\n'),
}
