import { expect, it } from 'vitest'
import type { Invoice } from '#shared/ports/invoices.ts'
import { assertKnownEntries } from './relay-records.ts'

const holding = (...kinds: readonly string[]): Invoice =>
  ({ outbox: kinds.map((kind, at) => ({ eventId: `evt_${at}`, seq: at + 1, kind })) }) as unknown as Invoice

// Guarantee: what a later version writes is not trimmed by one that cannot relay it.
it('refuses an outbox with a kind of entry that this version does not know', () => {
  expect(() => assertKnownEntries(holding('event', 'exception', 'exception_closed', 'mail', 'audit'))).not.toThrow()
  expect(() => assertKnownEntries(holding('event', 'receipt'))).toThrow('evt_1 has the unknown kind receipt')
  expect(() => assertKnownEntries(holding('toString'))).toThrow(TypeError)
})
