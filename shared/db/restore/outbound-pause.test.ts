import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Database } from '#shared/db/connection/connect.ts'
import { createOutboundPause } from './restore-state.ts'

/** A connection whose installation was restored and waits for a person, until `confirm`. */
function restored() {
  let state = 'held'
  const findOne = vi.fn(async () => ({ value: JSON.stringify({ state, takenAt: '', restoredAt: '', skip: 0 }) }))
  const db = { collection: () => ({ findOne }) } as unknown as Database
  return {
    db,
    findOne,
    confirm: () => {
      state = 'confirmed'
    },
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

// Guarantee: nothing is sent from a restored installation until a person has confirmed it.
it('asks once a second for all who send over a connection', async () => {
  const { db, findOne, confirm } = restored()
  const senders = [createOutboundPause(db), createOutboundPause(db)]
  const areAllPaused = () => Promise.all(senders.map((sender) => sender.isPaused()))
  expect(await areAllPaused()).toEqual([true, true])
  confirm()
  vi.advanceTimersByTime(999)
  expect(await areAllPaused()).toEqual([true, true])
  expect(findOne).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(await areAllPaused()).toEqual([false, false])
  expect(findOne).toHaveBeenCalledTimes(2)
})

it('asks again after a read that failed, and asks of another connection for itself', async () => {
  const { db, findOne } = restored()
  findOne.mockRejectedValueOnce(new Error('no primary'))
  await expect(createOutboundPause(db).isPaused()).rejects.toThrow('no primary')
  expect(await createOutboundPause(db).isPaused()).toBe(true)
  const other = restored()
  other.confirm()
  expect(await createOutboundPause(other.db).isPaused()).toBe(false)
})
