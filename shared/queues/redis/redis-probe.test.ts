import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { PROBED_COMMANDS } from './redis-probe.ts'

/** The scripts of a queue that adds wake-ups, a worker that takes them, and a reader of counts. */
const SCRIPTS = [
  ...['addStandardJob', 'moveToActive', 'moveToFinished', 'moveStalledJobsToWait'],
  ...['extendLock', 'extendLocks', 'releaseLock', 'getCounts'],
]
const scripts = createRequire(import.meta.url)('bullmq/dist/cjs/scripts/index.js') as Record<
  string,
  { readonly content: string }
>
const probed = new Set(PROBED_COMMANDS.map((text) => text.split(' ')[0]))

// Guarantee: a user of Redis that lacks one command of the queues is found by the probe, not by late webhooks.
it.each(SCRIPTS)('tries each command of %s', (name) => {
  const calls = [...(scripts[name]?.content ?? '').matchAll(/(?:rcall|redis\.call)\(["']([A-Za-z]+)["']/g)]
  expect(calls.length).toBeGreaterThan(0)
  expect(calls.map(([, command]) => command?.toUpperCase()).filter((command) => !probed.has(command))).toEqual([])
})
