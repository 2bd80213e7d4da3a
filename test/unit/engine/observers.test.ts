// Whoever watches a run: told in order, and unable to disturb it or one another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observer } from '../../../src/engine/model/ports.ts'
import { notifyObservers, settleObservers } from '../../../src/engine/notify-observers.ts'
import { midRun } from '../report/samples.ts'

test('an observer that fails is a warning, and the others are notified in order', async () => {
  const heard: string[] = []
  const warnings: string[] = []
  const hears = (name: string): Observer => ({
    async step({ kind }) {
      heard.push(`${name} ${kind}`)
    },
  })
  const fails: Observer = {
    async step() {
      throw new Error('the chat is away')
    },
  }
  const throws: Observer = {
    step() {
      throw new Error('at once')
    },
  }
  const deaf: Observer = {}
  const observers = [hears('first'), fails, throws, deaf, hears('last')]
  const warn = (message: string) => warnings.push(message)
  const step = { kind: 'verify' } as const
  await notifyObservers({ observers, warn }, (observer) => observer.step?.(step, midRun()))
  await notifyObservers({ observers, warn }, (observer) =>
    observer.event?.({ kind: 'waited', at: 0 }, midRun()),
  )
  assert.deepEqual(heard, ['first verify', 'last verify'])
  assert.deepEqual(warnings, ['the chat is away', 'at once'])
})

test('at the end each observer waits for its own service only', async () => {
  const heard: string[] = []
  const warnings: string[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const waits: Observer = {
    async settle() {
      await answered
      throw new Error('no answer')
    },
  }
  const last: Observer = {
    async settle() {
      heard.push('last')
      answer()
    },
  }
  await settleObservers({ observers: [waits, {}, last], warn: (message) => warnings.push(message) })
  assert.deepEqual([heard, warnings], [['last'], ['no answer']])
})
