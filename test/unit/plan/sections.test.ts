// Which headings stand above boxes that are no work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNonWorkHeading } from '../../../src/plan/sections.ts'

const noWork = [
  'Acceptance Criteria',
  '**Success Criteria:**',
  '3. Success Metrics (first month)',
  'Release Definition of Done',
  'Approval & Sign-off',
  '\u{1f512} Completion Verification (Required for EXIT_SIGNAL: true)',
  'Evidence Gates',
  'Final Steps',
  'Status Legend',
  'Testing Checklist',
  'Risks and mitigations',
  'Deferred to the next release',
  'Out of scope for now',
  'How to use this file',
  'Notes',
  'Non-functional requirements',
  'Abnahmekriterien',
]
for (const heading of noWork)
  test(`boxes below "${heading}" are not stories`, () => assert.equal(isNonWorkHeading(heading), true))

const work = [
  'Notes feature',
  'Sign-off flow',
  'Checklist export',
  'Payment success page',
  'Validation of input',
  'Metrics endpoint',
  'Risk engine',
  'Scope selector',
  'Phase 3: Validation',
  'Questions API',
  'High Priority',
]
for (const heading of work)
  test(`boxes below "${heading}" are stories`, () => assert.equal(isNonWorkHeading(heading), false))
