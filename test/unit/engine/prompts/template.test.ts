// Templates: filled in one pass, checked before a run, and one table for prompts, check and documentation.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { planParts, runParts, setupParts, verifyParts } from '../../../../src/engine/prompts/build-prompt.ts'
import { TEMPLATES } from '../../../../src/engine/prompts/built-in.ts'
import {
  checkTemplate,
  fill,
  type PromptPart,
  textOf,
  variablesIn,
} from '../../../../src/engine/prompts/template.ts'
import { checkTemplates, findTemplate } from '../../../../src/engine/prompts/template-files.ts'
import {
  MODES,
  type Mode,
  spellingsOf,
  VARIABLES,
  variableNames,
} from '../../../../src/engine/prompts/variables.ts'
import { hostileStrings } from '../../../fixtures/hostile-strings.ts'
import { anyText, runs } from '../../runs.ts'
import { stateOf } from '../samples.ts'

const filled = (template: string, values: Parameters<typeof fill>[2], mode: Mode = 'run') =>
  textOf(fill(template, mode, values))

type Row = { modes?: readonly Mode[]; also?: readonly string[]; bytes?: number }

const FACTS = {
  gates: ['test: npm test'],
  services: [],
  instructions: 'i',
  context: 'c',
  dropped: [],
  conflict: null,
}

/** A prompt of each mode from this template. */
function promptIn(mode: Mode, template: string, texts = 'words'): PromptPart[] {
  const story = newStory({
    id: 'US-001',
    title: texts,
    description: texts,
    acceptanceCriteria: [texts],
    tags: [texts],
    notes: texts,
    epicId: texts,
  })
  const start = stateOf([story])
  const state = {
    ...start,
    recent: [texts],
    prd: { ...start.prd, description: texts, run: { ...start.prd.run, learnings: [texts] } },
    control: { ...start.control, guidance: { 'US-001': [texts] } },
  }
  const facts = { ...FACTS, gates: [texts], instructions: texts, context: texts }
  switch (mode) {
    case 'run':
      return runParts(template, state, story, facts)
    case 'verify':
      return verifyParts(template, state, { stories: ['US-001'], gates: [] }, facts)
    case 'plan':
      return planParts(
        template,
        state,
        { brief: texts, stories: [story], split: null, message: texts },
        facts,
      )
    case 'setup':
      return setupParts(template, state, facts)
  }
}

describe('the table of variables', () => {
  test('is the one in docs/prompts.md, and no other variable is there', () => {
    const page = readFileSync(new URL('../../../../docs/prompts.md', import.meta.url), 'utf8')
    const [, table = ''] = page.split('## The variables')
    const rows = (table.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
    const cells = rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | ?\|$/g, '')))
    const known = variableNames().map((name) => {
      const { modes, also = [], bytes }: Row = VARIABLES[name]
      const dollar = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
      const others = also.map((alias) => `\`${alias}\``).join(', ')
      return [`\`{{${name}}}\` \`\${${dollar}}\``, modes?.join(', ') ?? 'all', others, String(bytes ?? '')]
    })
    assert.deepEqual(
      cells.map(([name, _meaning, ...rest]) => [name, ...rest]),
      known,
    )
  })

  test("has every variable for its prompts' modes", () => {
    for (const mode of MODES)
      for (const name of variableNames(mode)) {
        const text = textOf(promptIn(mode, `[{{${name}}}] {{storyId}}{{stories}}{{brief}}`))
        assert.doesNotMatch(text, new RegExp(`\\{\\{${name.replace('.', '\\.')}\\}\\}`), `${name} of ${mode}`)
      }
  })

  test('has names of earlier Ralphs and other tools, in their spellings', () => {
    const known = {
      'plan and build': ['${PLAN_FILE}', '${PROGRESS_FILE}', '${PLAN_NAME}'],
      'agnostic CLI, run.md': [
        ...['{{storyId}}', '{{storyTitle}}', '{{storyDescription}}', '{{acceptanceCriteria}}'],
        ...['{{doneMarker}}', '{{verifyCommands}}', '{{learnings}}'],
      ],
      'document-driven': [
        ...['{{project_overview}}', '{{architecture_patterns}}', '{{quality_gates}}', '{{epic_name}}'],
        ...['{{stories_remaining}}', '{{story_title}}', '{{progress_context}}', '{{project}}'],
        ...['{{timestamp}}', '{{branchName}}'],
      ],
      'ralph-tui': [
        ...[
          '{{taskId}}',
          '{{taskTitle}}',
          '{{taskDescription}}',
          '{{epicId}}',
          '{{epicTitle}}',
          '{{labels}}',
        ],
        ...['{{priority}}', '{{dependsOn}}', '{{blocks}}', '{{currentDate}}', '{{currentTimestamp}}'],
        ...['{{notes}}', '{{recentProgress}}', '{{prdName}}', '{{prdDescription}}', '{{prdContent}}'],
        ...['{{prdCompletedCount}}', '{{prdTotalCount}}', '{{codebasePatterns}}'],
        '{{{verificationErrors}}}',
      ],
    }
    for (const [whose, names] of Object.entries(known))
      for (const name of names)
        assert.deepEqual(checkTemplate('run.md', name, 'run'), [], `${whose}: ${name}`)
    assert.deepEqual(checkTemplate('verify.md', '{{verifyCommands}} {{storySummaries}}', 'verify'), [])
    assert.deepEqual(checkTemplate('plan.md', '{{feature}} {{prdContent}} {{datetime}}', 'plan'), [])
  })

  test('fills both spellings with the same text', () => {
    for (const mode of MODES)
      for (const dollar of spellingsOf(mode, 'dollar'))
        assert.ok(spellingsOf(mode, 'braces').includes(dollar), `${dollar} of ${mode}`)
    assert.equal(
      filled('{{storyId}} {{story_id}} {{STORY_ID}} {{ storyId }} {{{storyId}}} ${STORY_ID} ${TASK_ID}', {
        storyId: 'US-1',
      }),
      'US-1 US-1 US-1 US-1 US-1 US-1 US-1',
    )
  })

  test('matches the built-in templates', () => {
    for (const mode of MODES) assert.deepEqual(checkTemplate(`${mode}.md`, TEMPLATES[mode], mode), [])
  })
})

describe('filling a template', () => {
  test('shows a block when its variable has a value, without an empty line', () => {
    const template = 'a\n{{#if notes}}\nnotes: {{notes}}\n{{/if}}\nb{{#if epic}} c{{/if}}\n'
    assert.equal(filled(template, { notes: 'x', epic: 'E' }), 'a\nnotes: x\nb c\n')
    assert.equal(filled(template, { notes: ' ' }), 'a\nb\n')
  })

  test('fills blocks in blocks', () => {
    const template = '{{#if notes}}a{{#if epic}}{{epic}}{{/if}}b{{/if}}{{#if epic}}c{{/if}}'
    assert.equal(filled(template, { notes: 'x', epic: 'E' }), 'aEbc')
    assert.equal(filled(template, { notes: 'x', epic: '' }), 'ab')
    assert.equal(filled(template, { notes: '', epic: 'F' }), 'c')
  })

  test('removes comments, and keeps escaped text and other template languages', () => {
    const values = { storyId: 'US-1', gates: 'g' }
    assert.equal(filled('a{{! x }}b{{!-- {{storyId}}\n --}}c', values), 'abc')
    assert.equal(filled('{{!-- x --}}\n{{storyId}}', values), 'US-1')
    assert.equal(filled('\\{{!-- x --}}', values), '{{!-- x --}}')
    assert.deepEqual(checkTemplate('run.md', '{{! x }}{{!-- {{storyID}} --}}', 'run'), [])
    assert.equal(filled('\\{{storyId}} \\${STORY_ID} \\${HOME}', values), '{{storyId}} ${STORY_ID} \\${HOME}')
    const shell =
      'for f in "${FILES[@]}"; do echo ${f} ${HOME} ${1:-x} $STORY_ID ${storyId}; done ${{ github.ref }}'
    assert.equal(filled(shell, values), shell)
  })

  test('keeps unknown names as they are written', () => {
    assert.equal(
      filled('{{storyID}} {{#each x}} {{toString}} ${CONSTRUCTOR}', {}),
      '{{storyID}} {{#each x}} {{toString}} ${CONSTRUCTOR}',
    )
  })

  test('gives each piece the name of its variable, and the pieces make up the prompt', () => {
    assert.deepEqual(fill('a {{storyId}}{{notes}} b', 'run', { storyId: 'US-1', notes: '' }), [
      { name: 'template', text: 'a ' },
      { name: 'storyId', text: 'US-1' },
      { name: 'template', text: ' b' },
    ])
  })

  const markup = fc.constantFrom(
    ...[
      '{{gates}}',
      '${GATES}',
      '{{#if notes}}',
      '{{/if}}',
      '{{else}}',
      '{{!--',
      '--}}',
      '\\',
      '{',
      '}',
      '$',
      '$&',
    ],
    '\n',
  )
  const hostile = fc.oneof(
    fc.array(fc.oneof(markup, anyText({ maxLength: 5 })), { maxLength: 20 }).map((all) => all.join('')),
    fc.constantFrom(...hostileStrings.map(({ text }) => text).filter((text) => text.length < 2000)),
  )

  test('never reads data as a template', () => {
    const template = 'begin {{notes}}|{{#if notes}}{{failure}}{{/if}}|${STORY_TITLE}|{{notes}} end'
    const property = fc.property(hostile, hostile, (one, other) => {
      const said = one.trim() === '' ? '' : other
      assert.equal(
        filled(template, { notes: one, failure: other, storyTitle: one, gates: 'GATES' }),
        `begin ${one}|${said}|${one}|${one} end`,
      )
    })
    fc.assert(property, runs(100))
  })

  test('never makes a variable of two values next to each other', () => {
    assert.equal(
      filled('{{storyTitle}}{{notes}}', { storyTitle: '{{ga', notes: 'tes}}', gates: 'G' }),
      '{{gates}}',
    )
    assert.equal(filled('{{storyTitle}}gates}}', { storyTitle: '{{', gates: 'G' }), '{{gates}}')
    assert.equal(filled('${STORY_TITLE}{GATES}', { storyTitle: '$', gates: 'G' }), '${GATES}')
  })

  test('does so in the prompts of every mode', () => {
    for (const mode of MODES) {
      const plain = textOf(promptIn(mode, TEMPLATES[mode], 'words'))
      for (const text of ['{{gates}}', '${GATES}', '{{#if notes}}', '{{/if}}', '{{!-- x']) {
        const told = textOf(promptIn(mode, TEMPLATES[mode], text))
        assert.equal(told.replaceAll(text, 'words'), plain, `${text} in ${mode}`)
      }
    }
  })

  test('reads any template to its end, and fills what it names', () => {
    const property = fc.property(fc.array(fc.oneof(markup, fc.string({ maxLength: 8 }))), (pieces) => {
      const template = pieces.join('')
      const names = variablesIn(template, 'run')
      const parts = fill(template, 'run', { gates: 'G', notes: 'N' })
      for (const { name } of parts) assert.ok(name === 'template' || names.has(name))
      checkTemplate('run.md', template, 'run')
    })
    fc.assert(property, runs(200))
  })
})

describe('checking a template', () => {
  const mistakes = (text: string, mode: Mode = 'run') =>
    checkTemplate('run.md', text, mode).map(({ path, found, fix }) => `${path} ${found} ${fix}`)

  test('reports an unknown name with its line, the nearest name, and how to escape it', () => {
    assert.deepEqual(mistakes('a\n\n{{storyID}}\r\n{{nothing_like_it}}'), [
      'run.md:3 "{{storyID}}" write {{storyId}}, or \\{{storyID}} if you mean the text itself',
      'run.md:4 "{{nothing_like_it}}" use one of the variables in docs/prompts.md, or write \\{{nothing_like_it}} if you mean the text itself',
    ])
  })

  test('reports a name of another kind of session', () => {
    assert.match(mistakes('{{stories}}')[0] ?? '', /^run\.md:1 "\{\{stories\}\}" /)
  })

  test('reports unknown blocks, blocks without an end, and ends without a block', () => {
    assert.match(mistakes('{{#each stories}}')[0] ?? '', /without a block/)
    assert.match(
      mistakes('x\n{{#if notes}}')[0] ?? '',
      /^run\.md:2 "\{\{#if notes\}\}" without an end write \{\{\/if\}\}/,
    )
    assert.match(mistakes('{{/if}}')[0] ?? '', /begin the block/)
    assert.match(mistakes('{{#unless notes}}')[0] ?? '', /without a block/)
    assert.match(mistakes('{{#if nots}}{{/if}}')[0] ?? '', /\{\{notes\}\}/)
  })

  test('does not report variables of the shell', () => {
    assert.deepEqual(mistakes('${HOME} ${PLAN_FIEL} ${RALPH_STORY_ID} ${f}'), [])
  })

  test('reports a template that is too long', () => {
    assert.match(mistakes('x'.repeat(70_000))[0] ?? '', /70000 characters shorten the template/)
  })
})

describe('the place of templates', () => {
  const files = (texts: Record<string, string>) => async (path: string) => texts[path] ?? null

  test("Ralph's names come first, then those of other tools in the same folder; an empty file counts as missing", async () => {
    const both = files({ '.ralph/prompts/run.md': 'ours', '.ralph/prompts/LOOP_PROMPT.md': 'theirs' })
    assert.equal((await findTemplate('run', both))?.text, 'ours')
    const empty = files({ '.ralph/prompts/run.md': ' \n', '.ralph/prompts/LOOP_PROMPT.md': 'theirs' })
    assert.equal((await findTemplate('run', empty))?.path, '.ralph/prompts/LOOP_PROMPT.md')
    assert.equal(await findTemplate('plan', both), null)
  })

  test("an imported prompt is a notice, one of another tool elsewhere a warning, unless Ralph's own exists", async () => {
    const found = await checkTemplates(
      files({
        '.ralph/prompts/SETUP_PROMPT.md': 'Write a README.',
        'PROMPT_plan.md': 'Analyse ${PLAN_FILE}.',
        'PROMPT_build.md': 'Build.',
        '.ralph/prompts/run.md': '{{storyId}} {{acceptanceCriteria}}',
      }),
    )
    assert.deepEqual(found.mistakes, [])
    assert.deepEqual(found.notes, [
      'Ralph uses .ralph/prompts/SETUP_PROMPT.md. When you have adapted it to Ralph, rename it to setup.md',
    ])
    assert.deepEqual(found.warnings, [
      'Ralph does not use PROMPT_plan.md: if it is a prompt of another tool, move it to .ralph/prompts/plan.md',
    ])
  })

  test('a prompt.md of an earlier tool that no template replaces is a warning', async () => {
    const { warnings } = await checkTemplates(files({ 'ralph/prompt.md': 'Work on the story.' }))
    assert.deepEqual(warnings, [
      'Ralph does not use ralph/prompt.md: if it is a prompt of another tool, move it to .ralph/prompts/run.md',
    ])
  })

  test('templates of judge and planner get the answer format appended when they lack it', () => {
    assert.match(
      textOf(promptIn('verify', 'Judge {{stories}}.')),
      /exactly this line.*\n<ralph>VERIFIED<\/ralph>/,
    )
    assert.match(textOf(promptIn('plan', 'Plan {{brief}}.')), /one fenced block of JSON/)
    const own = 'Judge {{stories}}. Say <ralph>VERIFIED</ralph>.'
    assert.ok(textOf(promptIn('verify', own)).endsWith('Say <ralph>VERIFIED</ralph>.'))
  })

  test('a prompt without the story goes before the built-in one, as base instructions do', () => {
    const told = textOf(promptIn('run', 'You are Ralph. Read ${PLAN_FILE}, pick ONE task.\n'))
    assert.match(
      told,
      /^You are Ralph\. Read \.ralph\/[^ ]+\/prd\.json, pick ONE task\.\n\nYou are working unattended/,
    )
    assert.match(told, /\*\*US-001: words\*\*/)
    assert.match(
      textOf(promptIn('setup', 'Write a README.')),
      /^Write a README\.\n\n# Rules of this session\n/,
    )
  })
})
