// The section of AGENTS.md: bounded, once, and nothing in it can act; what people wrote stays byte for byte.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { usefulLearnings, withAgentsSection } from '../../../src/report/agents-md.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { runs } from '../runs.ts'

const BEGIN = '<!-- ralph:learnings -->'
const END = '<!-- /ralph:learnings -->'
const MAIL = 'The mailer lives in src/mail; use it.'
const SEED = 'Seed the database before `npm test`.'
const count = (text: string, part: string) => text.split(part).length - 1
const section = (text: string) => text.slice(text.indexOf(BEGIN), text.indexOf(END) + END.length)

describe('the section of AGENTS.md', () => {
  test('is the whole of a new file, with the newest learning last', () => {
    const text = withAgentsSection(null, [MAIL, SEED]) ?? ''
    assert.match(text, /^<!-- ralph:learnings -->\n## Learnings\n\nCoding agents noted .*\n\n- The mailer/)
    assert.ok(text.endsWith(`- ${SEED}\n${END}\n`))
  })

  test('follows the text of people, with their line ends, and a second update changes nothing', () => {
    const people = '# Agents\r\n\r\nBe kind.\r\n'
    const text = withAgentsSection(people, [MAIL]) ?? ''
    assert.ok(text.startsWith(people))
    assert.equal(count(text, '\n'), count(text, '\r\n'))
    assert.equal(withAgentsSection(text, [MAIL]), null)
    assert.equal(
      withAgentsSection(text, [`${MAIL.toUpperCase()}!`]),
      null,
      'the same words are the same learning',
    )
  })

  test('is updated in place, and lines of people inside it move after it', () => {
    const first = withAgentsSection('# Agents\n', [MAIL]) ?? ''
    const edited = `${first.replace(END, `Ours, in the wrong place.\n${END}`)}\n## Style\n\n- short lines\n`
    const text = withAgentsSection(edited, [SEED]) ?? ''
    assert.match(section(text), /- The mailer.*\n- Seed the database.*\n<!-- \/ralph/)
    assert.ok(text.startsWith('# Agents\n\n<!--'))
    assert.ok(text.endsWith(`${END}\n\nOurs, in the wrong place.\n\n## Style\n\n- short lines\n`))
  })

  test('leaves text of people byte for byte: blank lines, mixed line ends, no line end at the end', () => {
    const people = '\n\n# Agents\r\n\n\n\nBe kind.  \nno end'
    const text = withAgentsSection(people, [MAIL]) ?? ''
    assert.ok(text.startsWith(people))
    const later = withAgentsSection(`${text}\n\n\nbehind\n`, [SEED]) ?? ''
    assert.ok(later.startsWith(people) && later.endsWith(`${END}\r\n\n\n\nbehind\n`), JSON.stringify(later))
  })

  test('gets no learning that people wrote already, and no empty one', () => {
    assert.equal(withAgentsSection(`- ${MAIL}\n`, [MAIL, 'ok', '---', '']), null)
    assert.deepEqual(usefulLearnings(['done', MAIL, MAIL.toLowerCase()]), [MAIL.toLowerCase()])
  })

  test('has at most 4 KB: the oldest learnings are removed', () => {
    const many = Array.from({ length: 50 }, (_, at) => `learning number ${at}: ${'x'.repeat(200)}`)
    const text = withAgentsSection('# Agents\n', many) ?? ''
    assert.ok(Buffer.byteLength(section(text)) <= 4096)
    assert.match(text, /number 49:/)
    assert.doesNotMatch(text, /number 3:/)
    const later = withAgentsSection(text, [MAIL]) ?? ''
    assert.ok(Buffer.byteLength(section(later)) <= 4096)
    assert.match(later, /The mailer/)
  })

  test('is found after markers in a code block of people', () => {
    const example = `${BEGIN}\n- a hint of the docs\n${END}\n`
    const fenced = ['```', '~~~~', '  ```'].map((fence) => `${fence}md\n${example}${fence}\n`)
    for (const block of [...fenced, example.replace(/^/gm, '    ')]) {
      const people = `# Agents\n\n${block}`
      const text = withAgentsSection(people, [MAIL]) ?? ''
      assert.ok(text.startsWith(people), text)
      const later = withAgentsSection(text, [SEED]) ?? ''
      assert.ok(later.startsWith(people), later)
      assert.deepEqual([count(later, BEGIN), count(later, MAIL), count(later, SEED)], [2, 1, 1])
    }
  })

  test('is found after a fence that never ends, and backticks that open none', () => {
    for (const people of ['```md\nno end\n', '``` a `b` ```\n']) {
      const text = withAgentsSection(people, [MAIL]) ?? ''
      const later = withAgentsSection(text, [SEED]) ?? ''
      assert.deepEqual([count(later, BEGIN), count(later, MAIL), count(later, SEED)], [1, 1, 1])
    }
  })

  test('keeps every byte of the text around it, run after run', () => {
    const line = fc.constantFrom(
      '',
      '# Agents',
      '- short lines',
      '    indented',
      '\tx',
      'a `b` ```',
      '## Learnings',
    )
    const fence = fc
      .tuple(
        fc.constantFrom('```', '~~~~'),
        fc.array(fc.constantFrom(BEGIN, END, `  ${BEGIN}`, '- a hint', '')),
      )
      .map(([mark, inside]) => [`${mark}md`, ...inside, mark])
    const written = fc
      .tuple(
        fc.array(
          fc.oneof(
            line.map((one) => [one]),
            fence,
          ),
          { maxLength: 12 },
        ),
        fc.infiniteStream(fc.constantFrom('\n', '\r\n')),
      )
      .map(([blocks, ends]) =>
        blocks
          .flat()
          .map((one) => one + ends.next().value)
          .join(''),
      )
    fc.assert(
      fc.property(written, written, (before, after) => {
        const first = withAgentsSection(before, [MAIL]) ?? ''
        assert.ok(first.startsWith(before))
        const later = withAgentsSection(first + after, [SEED]) ?? ''
        assert.ok(later.startsWith(before) && later.endsWith(after), JSON.stringify({ before, after, later }))
        assert.deepEqual([count(later, MAIL), count(later, SEED)], [1, 1])
      }),
      runs(300),
    )
  })

  test('with one marker only: no text is removed', () => {
    for (const broken of [`a\n${BEGIN}\n- people's own line\n`, `${END}\n- people's own line\n${BEGIN}\n`]) {
      const text = withAgentsSection(broken, [MAIL]) ?? ''
      assert.match(text, /- people's own line/)
      assert.ok(text.indexOf("people's own line") < text.indexOf(BEGIN))
      assert.equal(count(text, BEGIN), 1)
      assert.equal(count(text, END), 1)
      assert.equal(withAgentsSection(text, [MAIL]), null)
    }
  })
})

describe('hostile learnings', () => {
  const PEOPLE = '# Agents\n\nBe kind.\n'

  function harmless(text: string): void {
    assert.ok(text.startsWith(PEOPLE))
    const lines = section(text).split('\n')
    assert.equal(lines[0], BEGIN)
    assert.equal(lines.at(-1), END)
    for (const line of lines.slice(5, -1)) {
      assert.match(line, /^- [^\s#>*+=|-]/, line)
      assert.doesNotMatch(line, /<[\w/!?]|-->|``|~~|\]\(|(^|\W)@[\w./~]/, line)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none.
      assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
    }
    assert.ok(Buffer.byteLength(section(text)) <= 4096)
  }

  for (const { kind, name, text } of hostileStrings)
    test(`${kind}: ${name}`, () => {
      for (const learning of [`worth keeping: ${text}`, `${text} worth keeping`]) {
        const made = withAgentsSection(PEOPLE, [learning, SEED]) ?? ''
        harmless(made)
        const again = withAgentsSection(made, [learning, MAIL]) ?? ''
        harmless(again)
        assert.equal(withAgentsSection(again, [learning, SEED, MAIL]), null)
      }
    })

  test('any learning, added to any text, is harmless Markdown, and added once', () => {
    const bit = fc.constantFrom(
      BEGIN,
      END,
      '- ',
      '<!--',
      '-->',
      '@AGENTS.md',
      '```',
      '](x)',
      '\n',
      '\r\n',
      ' word',
      '## H',
      '1. ',
    )
    const line = fc
      .array(fc.oneof(bit, fc.string({ unit: 'grapheme' })), { maxLength: 8 })
      .map((parts) => parts.join(''))
    const learnings = fc.array(line, { maxLength: 6 })
    fc.assert(
      fc.property(learnings, line, (said, behind) => {
        const made = withAgentsSection(`${PEOPLE}\n${behind}`, said)
        if (made === null) return
        assert.equal(made.split('\n').filter((one) => one.trim() === BEGIN).length, 1)
        assert.equal(withAgentsSection(made, said), null)
      }),
    )
  })
})
