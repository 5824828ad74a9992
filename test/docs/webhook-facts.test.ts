import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'

const guide = readFileSync('docs/guide/merchant.md', 'utf8')
const introduction: string = JSON.parse(readFileSync('docs/openapi.json', 'utf8')).info.description

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A pause as the guide writes it: `0 s`, `5 min`, `2 h`. */
const short = (ms: number): string => (ms === 0 ? '0 s' : ms < HOUR_MS ? `${ms / MINUTE_MS} min` : `${ms / HOUR_MS} h`)

const listed = (parts: readonly string[]): string => `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

// Guarantee: merchants plan with the pauses that deliveries really have.
test('the guide and the OpenAPI document name the pauses of the schedule', () => {
  expect(guide.replace(/\s+/g, ' ')).toContain(`after ${listed(WEBHOOK_RETRY_DELAYS_MS.map(short))}`)
  const minutes = WEBHOOK_RETRY_DELAYS_MS.filter((ms) => ms > 0 && ms < HOUR_MS).map((ms) => ms / MINUTE_MS)
  const hours = WEBHOOK_RETRY_DELAYS_MS.filter((ms) => ms >= HOUR_MS).map((ms) => ms / HOUR_MS)
  const words = minutes.map((count) => `${count} minute${count === 1 ? '' : 's'}`)
  expect(introduction).toContain(`immediately, then after ${words.join(', ')}, ${listed(hours.map(String))} hours`)
  expect(introduction).toContain(`retried up to ${WEBHOOK_RETRY_DELAYS_MS.length} times`)
})

// Guarantee: an event that a merchant receives is explained.
test.each(EVENT_TYPES)('the guide explains %s', (type) => {
  expect(guide).toContain(`\`${type}\``)
})
