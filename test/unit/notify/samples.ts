// A message to begin with.

import type { NotifySettings } from '../../../src/notify/notice.ts'
import type { Notice } from '../../../src/notify/state-changes.ts'
import { sentence } from '../../../src/report/sentence.ts'

export const NOBODY: NotifySettings = {
  slack: null,
  discord: null,
  teams: null,
  telegram: null,
  webhook: null,
  custom: null,
  every: 5,
}

export function notice(changes: Partial<Notice> = {}): Notice {
  return {
    event: 'outcome',
    delivery: '01234567-89ab-cdef-0123-456789abcdef',
    at: Date.UTC(2026, 0, 10, 14, 5),
    repository: 'acme/shop',
    project: 'Shop',
    feature: 'auth',
    branch: 'ralph/auth',
    generation: 3,
    outcome: 'stuck',
    sign: '🛑',
    headline: 'Stuck: US-002 is blocked · 1 of 2 stories pass',
    next: sentence`Say ${{ code: '/ralph retry US-002 -- <hint>' }}.`,
    stories: { total: 2, passed: 1, skipped: 0, blocked: ['US-002'] },
    iterations: 7,
    jobs: 2,
    costUsd: 0.42,
    tokens: 48_000,
    pullRequestUrl: 'https://github.com/acme/shop/pull/7',
    runUrl: 'https://github.com/acme/shop/actions/runs/1',
    ...changes,
  }
}
