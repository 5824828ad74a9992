import { describe, expect, it } from 'vitest'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { wasEnabledAt } from './relay-records.ts'

const MINUTE_MS = 60_000
const base: WebhookEndpoint = {
  ...{ id: 'e', workspaceId: 'w', url: 'https://shop.example', events: ['*'], mode: 'live', description: null },
  ...{
    status: 'enabled',
    sealedSecrets: [],
    formerSecrets: [],
    inFlightMax: null,
    createdAt: 0,
    updatedAt: 0,
    opId: null,
  },
}
const disabledAt = 10 * MINUTE_MS
const enabledAt = 20 * MINUTE_MS

describe('an endpoint was enabled at the time of a change', () => {
  it.each([
    ['it never was disabled', {}, 15 * MINUTE_MS, true],
    ['it is disabled since a minute later', { status: 'disabled', disabledAt }, 9 * MINUTE_MS, true],
    ['it is disabled since a minute before', { status: 'disabled', disabledAt }, 11 * MINUTE_MS, false],
    ['the change was in a pause that is over', { disabledAt, enabledAt }, 15 * MINUTE_MS, false],
    ['the change was before a pause that is over', { disabledAt, enabledAt }, 9 * MINUTE_MS, true],
    ['the change was after a pause', { disabledAt, enabledAt }, 21 * MINUTE_MS, true],
    ['it is in its second pause', { status: 'disabled', disabledAt: 30 * MINUTE_MS, enabledAt }, 25 * MINUTE_MS, true],
    ['the clocks differ at its beginning', { status: 'disabled', disabledAt }, disabledAt + 1_999, true],
    ['the clocks differ at its end', { disabledAt, enabledAt }, enabledAt - 1_999, true],
    ['it was disabled by an older version', { status: 'disabled', updatedAt: disabledAt }, 11 * MINUTE_MS, false],
    ['it was enabled by an older version', { updatedAt: enabledAt }, 15 * MINUTE_MS, true],
  ] as const)('%s', (_case, changes, at, expected) => {
    expect(wasEnabledAt({ ...base, ...changes }, at)).toBe(expected)
  })
})
