// Which agents reach their model on the action's closed network, and what has to be written for the others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAgent } from '../../../src/agents/registry.ts'
import { unreachableModel } from '../../../src/app/reach-model.ts'

const CLOSED = { isolation: 'other-user', network: 'model', networkAllow: [] as string[] } as const

const ROWS: [what: string, agent: string, keys: string[], allow: string[], fix: RegExp | null][] = [
  ['claude with a key', 'claude', ['ANTHROPIC_API_KEY'], [], null],
  [
    'claude with Bedrock',
    'claude',
    ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK'],
    [],
    /such as api\.example\.com/,
  ],
  ['claude with Bedrock and hosts', 'claude', ['CLAUDE_CODE_USE_BEDROCK'], ['bedrock.example.com'], null],
  ['codex', 'codex', ['OPENAI_API_KEY'], [], null],
  ['gemini', 'gemini', ['GEMINI_API_KEY'], [], null],
  ['copilot', 'copilot', ['COPILOT_GITHUB_TOKEN'], [], /\(api\.github\.com and \*\.githubcopilot\.com\)/],
  ['copilot that may only use npm', 'copilot', ['COPILOT_GITHUB_TOKEN'], ['npm'], /\*\.githubcopilot\.com/],
  [
    'copilot with its hosts',
    'copilot',
    ['COPILOT_GITHUB_TOKEN'],
    ['api.github.com', '*.githubcopilot.com'],
    null,
  ],
  ['amp', 'amp', ['AMP_API_KEY'], [], /ampcode\.com/],
  ['cursor', 'cursor', ['CURSOR_API_KEY'], [], /\*\.cursor\.sh/],
  ['opencode, by its key', 'opencode', ['GROQ_API_KEY'], [], /models\.dev and api\.groq\.com/],
  ['a command of your own', 'custom', [], [], null],
]

for (const [what, agent, keys, networkAllow, fix] of ROWS)
  test(`network: model, ${what}`, () => {
    const vendor = findAgent(agent)
    assert.ok(vendor !== null)
    const mistake = unreachableModel({ ...CLOSED, networkAllow }, vendor, (name) => keys.includes(name))
    if (fix === null) assert.equal(mistake, null)
    else assert.match(mistake?.fix ?? '', fix)
  })

test('an open network, and agents without a user of their own, reach every model', () => {
  const vendor = findAgent('amp')
  assert.ok(vendor !== null)
  for (const more of [{ network: 'open' }, { isolation: 'same-user' }] as const)
    assert.equal(
      unreachableModel({ ...CLOSED, ...more }, vendor, () => true),
      null,
    )
})
