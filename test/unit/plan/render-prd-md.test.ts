// prd.md: it shows everything, does nothing, and reads back to the same stories.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { marked } from 'marked'
import type { Prd } from '../../../src/engine/model/feature.ts'
import { oneLine, sanitizeText } from '../../../src/engine/model/text.ts'
import { readDocuments, renderPrdMarkdown } from '../../../src/plan/documents.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { feature, story } from '../engine/prd/samples.ts'
import { anyText, runs } from '../runs.ts'
import { documentsOf } from './samples.ts'

const words = ({ userStories, project, description }: Prd) => ({
  project: oneLine(project, 500),
  description: sanitizeText(description).trim(),
  stories: userStories.map(({ id, title, description: told, acceptanceCriteria, dependsOn }) => ({
    id,
    title: oneLine(title, 500),
    description: sanitizeText(told).trim(),
    acceptanceCriteria: acceptanceCriteria.map((one) => oneLine(one, 60_000)),
    dependsOn,
  })),
})

const readBack = (prd: Prd) => documentsOf({ path: 'prd.md', text: renderPrdMarkdown(prd) }).prd

test('prd.md renders a plan', () => {
  const prd = feature(
    story({ id: 'US-001', title: 'Sign in', description: 'As a customer,\nI want in.', passes: true }),
    story({
      id: 'US-002',
      title: 'Map<string>',
      acceptanceCriteria: ['`Map<string>` is read', 'b'],
      dependsOn: ['US-001'],
    }),
  )
  assert.equal(
    renderPrdMarkdown({ ...prd, project: 'Accounts', description: 'Customers get accounts.' }),
    `# Accounts

Customers get accounts.

## Stories

### US-001: Sign in

As a customer,
I want in.

**Acceptance Criteria:**

- [x] As a customer, I want in.

### US-002: Map&lt;string>

**Depends on:** US-001

**Acceptance Criteria:**

- [ ] \`Map<string>\` is read
- [ ] b

<!-- ralph: prd.json as a page -->
`,
  )
})

test('prd.md keeps ids of every kind, and text that people add below', () => {
  const prd = feature(
    story({ id: '1', title: 'a' }),
    story({ id: 'login-form', title: 'b: c', dependsOn: ['1'] }),
    story({ id: 'US-001-1', title: 'c' }),
  )
  assert.deepEqual(words(readBack(prd)), { ...words(prd), project: 'Stories' })
  const page = renderPrdMarkdown(prd).replace('<!--', '### Sing\n\nAs a bird.\n\n- [ ] it sings\n\n<!--')
  const added = documentsOf({ path: 'prd.md', text: page }).prd.userStories.at(-1)
  assert.deepEqual(
    [added?.id, added?.title, added?.description, added?.acceptanceCriteria],
    ['US-004', 'Sing', 'As a bird.', ['it sings']],
  )
})

/** Lines that Markdown would make something of. */
const line = fc.constantFrom(
  ...[
    '# a',
    '### US-9: b',
    'a',
    '  b',
    '===',
    '---',
    '- [x] c',
    '- d',
    '  - e',
    '> ## f',
    '```',
    '~~~js',
    '  ```',
    '`x`',
  ],
  ...[
    '<!-- hidden',
    '-->',
    '<b>',
    '`<!-- x -->`',
    'odd ` tick',
    '``',
    '![i](http://x)',
    '[l](x)',
    '&lt;',
    '&amp;lt;',
    '',
  ],
  ...['**Acceptance Criteria:**', '**Depends on:** US-9', '\\<!-- x -->', '    code', '1. g', '<details>'],
)
const block = fc
  .array(fc.oneof(line, anyText({ maxLength: 12 })), { maxLength: 8 })
  .map((all) => all.join('\n'))
const text = fc.oneof(block, fc.constantFrom(...hostileStrings.map((one) => one.text.slice(0, 2_000))))
const filled = text.filter((one) => oneLine(one) !== '')
const features = fc
  .array(
    fc.record({ title: filled.filter((one) => one.length < 400), description: text, criterion: filled }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((stories) =>
    feature(
      ...stories.map(({ title, description, criterion }, index) =>
        story({
          id: `US-${index}`,
          title,
          description,
          acceptanceCriteria: [criterion, 'b'],
          dependsOn: index === 0 ? [] : ['US-0'],
        }),
      ),
    ),
  )

test('prd.md reads back to the same stories, for any text', () => {
  fc.assert(
    fc.property(features, (prd) => {
      assert.deepEqual(words(readBack({ ...prd, project: 'p' })), words({ ...prd, project: 'p' }))
    }),
    runs(40),
  )
})

test('text of stories in prd.md hides nothing, loads no picture and opens no section', () => {
  fc.assert(
    fc.property(features, (prd) => {
      const tokens = marked.lexer(renderPrdMarkdown({ ...prd, project: 'p' }))
      const found: string[] = []
      marked.walkTokens(tokens, (token) => {
        if (token.type === 'html' || token.type === 'image') found.push(token.raw)
        if (token.type === 'heading' && token.depth < 3) found.push(token.raw)
      })
      const marks = found.map((one) => one.trim())
      assert.deepEqual(marks, ['# p', '## Stories', '<!-- ralph: prd.json as a page -->'])
      assert.ok(readDocuments([{ path: 'prd.md', text: renderPrdMarkdown(prd) }]).ok)
    }),
    runs(40),
  )
})
