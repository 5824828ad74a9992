import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventBody } from '#shared/contracts/webhooks/event.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'

const FOLDER = 'docs/events'

test('there is one recorded body for each event, and no other file', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(EVENT_TYPES.map((type) => `${type}.json`).sort())
})

test.each(EVENT_TYPES)('the recorded %s is what the interface sends', (type) => {
  const text = readFileSync(`${FOLDER}/${type}.json`, 'utf8')
  const event = eventBody.parse(JSON.parse(text))
  expect(event).toMatchObject({ type, livemode: false })
  expect(event.data.payment !== undefined).toBe(type.startsWith('payment.'))
  expect(text).not.toMatch(/127\.0\.0\.1|localhost/)
})
