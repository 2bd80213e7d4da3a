// The prompts of the earlier designs, written anew after theirs: each of their variables is filled with what it means there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '../../../src/engine/model/state.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { planParts, runParts, verifyParts } from '../../../src/engine/prompts/build-prompt.ts'
import { checkTemplate, textOf } from '../../../src/engine/prompts/template.ts'
import { stateOf } from './samples.ts'

const FACTS = {
  gates: ['typecheck: npm run types', 'test: npm test'],
  services: [],
  instructions: '',
  context:
    '# Ferry\n\n## Overview\n\nPeople book ferries.\n\n## Architecture\n\nRoutes live in src/routes.\n\n## Sprint\n\nSprint 2.',
  dropped: [],
  conflict: null,
}

const wanted = newStory({
  id: 'STORY-002',
  title: 'Buy a ticket',
  description: 'As a passenger I buy a ticket.',
  acceptanceCriteria: ['A card is charged', 'A mail is sent'],
  epicId: 'EPIC-002',
  priority: 2,
})
const done = newStory({ id: 'STORY-001', title: 'Show the timetable', passes: true })

function state(): State {
  const start = stateOf([done, wanted])
  return {
    ...start,
    feature: 'ferry',
    folder: '.ralph/2026-01-31-ferry',
    recent: ['## Iteration 1 - STORY-001: Show the timetable\n'],
    prd: {
      ...start.prd,
      project: 'Ferry',
      description: 'Tickets for ferries.',
      run: { ...start.prd.run, learnings: ['the mailer is a stub'] },
      extra: {
        epics: { 'EPIC-002': 'Tickets' },
        plannedFrom: { 'plans/ferry_PROGRESS.md': 'a', 'plans/ferry.md': 'b' },
      },
    },
  }
}

function run(template: string, of = state()): string {
  assert.deepEqual(checkTemplate('run.md', template, 'run'), [])
  return textOf(runParts(template, of, wanted, FACTS))
}

test("document-driven Ralph's variables: the overview only, patterns without it, the epic by its name", () => {
  const prompt = `# Context
## Project Overview
{{project_overview}}
## Architecture Patterns
{{architecture_patterns}}
## Gates
{{quality_gates}}
## Current Sprint
Epic: {{epic_name}}
Left: {{stories_remaining}}
Commit as "feat: {{story_title}}" of {{project}} on {{branchName}} at {{timestamp}}
## Progress
{{progress_context}}
`
  assert.equal(
    run(prompt),
    `# Context
## Project Overview
People book ferries.
## Architecture Patterns
# Ferry

## Architecture

Routes live in src/routes.

## Sprint

Sprint 2.
## Gates
- typecheck: npm run types
- test: npm test
## Current Sprint
Epic: Tickets
Left: 1
Commit as "feat: Buy a ticket" of Ferry on ralph/auth at 2026-01-31
## Progress
## Iteration 1 - STORY-001: Show the timetable
`,
  )
})

test("without an overview in context.md its variable is the feature's description, and an unnamed epic is its id", () => {
  const start = state()
  const bare = { ...start, prd: { ...start.prd, extra: {} } }
  const parts = runParts('{{project_overview}}|{{epic_name}}|{{storyId}}', bare, wanted, {
    ...FACTS,
    context: 'Bare.',
  })
  assert.equal(textOf(parts), 'Tickets for ferries.|EPIC-002|STORY-002')
})

test("an epic's name is read from the list of epics in prd.json, or from the story", () => {
  const start = state()
  const listed = { ...start.prd, extra: { epics: [{ id: 'EPIC-002', title: 'Tickets and seats' }] } }
  assert.equal(run('{{epic_name}} {{storyId}}', { ...start, prd: listed }), 'Tickets and seats STORY-002')
  const own = { ...wanted, extra: { epicName: 'Its own' } }
  assert.equal(textOf(runParts('{{epicTitle}} {{storyId}}', start, own, FACTS)), 'Its own STORY-002')
})

test("plan-and-build Ralph's variables: the plan that was read, its progress file, its name", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what the template holds
  const prompt = 'Read ${PLAN_FILE} and ${PROGRESS_FILE} of ${PLAN_NAME}. One task: ${STORY_ID}.'
  assert.equal(
    run(prompt),
    'Read plans/ferry.md and .ralph/2026-01-31-ferry/progress.txt of ferry. One task: STORY-002.',
  )
  const start = state()
  const unplanned = { ...start, prd: { ...start.prd, extra: {} } }
  assert.match(run(prompt, unplanned), /^Read \.ralph\/2026-01-31-ferry\/prd\.json and /)
})

test("agnostic CLI's templates: run.md, verify.md, prd-refine.md", () => {
  const prompt = `**ID:** {{storyId}}
**Title:** {{storyTitle}}
**Description:** {{storyDescription}}
{{acceptanceCriteria}}
Output {{doneMarker}}
{{verifyCommands}}
{{learnings}}
`
  assert.equal(
    run(prompt),
    `**ID:** STORY-002
**Title:** Buy a ticket
**Description:** As a passenger I buy a ticket.
- A card is charged
- A mail is sent
Output <ralph>DONE</ralph>
- typecheck: npm run types
- test: npm test
- the mailer is a stub
`,
  )
  const verify = 'Passed:\n{{verifyCommands}}\nStories:\n{{storySummaries}}\n<ralph>VERIFIED</ralph>'
  assert.deepEqual(checkTemplate('verify.md', verify, 'verify'), [])
  const judged = textOf(verifyParts(verify, state(), { stories: ['STORY-002'], gates: [] }, FACTS))
  assert.match(judged, /Stories:\n## STORY-002: Buy a ticket\n[\s\S]*1\. A card is charged/)
  const refine =
    '# PRD: {{feature}}\n{{prdContent}}\nSave to .ralph/{{datetime}}-{{feature}} {{brief}} "stories"'
  const task = { brief: 'b', stories: [wanted], split: null, message: '' }
  const planned = textOf(planParts(refine, state(), task, FACTS))
  assert.match(planned, /^# PRD: ferry\n[\s\S]*Buy a ticket[\s\S]*Save to \.ralph\/2026-01-31-ferry /)
})

test('prompts of steps Ralph have no variable, and go before the built-in one', () => {
  for (const prompt of [
    '# LOOP\nRead .ralph/prd.json and work on one task.',
    '# You are Ralph\nFollow @fix_plan.md.',
  ]) {
    const text = run(prompt)
    assert.ok(text.startsWith(`${prompt}\n\nYou are working unattended`), text.slice(0, 200))
    assert.match(text, /\*\*STORY-002: Buy a ticket\*\*/)
  }
})
