import { expect, test } from 'vitest'
import { LeaseTaken, underBackupLease } from './backup-lease.ts'

/** Leases in memory that never end by themselves. */
function createLeases() {
  let holder: string | null = null
  return {
    takeOver: (owner: string) => {
      holder = owner
    },
    acquire: async (_name: string, owner: string) => {
      holder ??= owner
      return holder === owner
    },
    release: async (_name: string, owner: string) => {
      if (holder === owner) holder = null
    },
    holder: () => holder,
  }
}

const request = { owner: 'first', signal: new AbortController().signal, waitMs: 0 }
const missing = new Error('ENOENT: no such file or directory')

test('a failure after another process took the lease is told as that, and its lease stays', async () => {
  const leases = createLeases()
  const cause = underBackupLease(leases, request, async (lease) => {
    // The process was suspended; the other one removed the unfinished archive.
    leases.takeOver('second')
    return await lease.cause(missing)
  })
  expect(await cause).toBeInstanceOf(LeaseTaken)
  expect(leases.holder()).toBe('second')
})

test('a failure while the lease is held, or while the store cannot be asked, is told as it is', async () => {
  const leases = createLeases()
  expect(await underBackupLease(leases, request, (lease) => lease.cause(missing))).toBe(missing)
  const lost = underBackupLease(leases, request, async (lease) => {
    leases.acquire = async () => {
      throw new Error('no primary')
    }
    return await lease.cause(missing)
  })
  expect(await lost).toBe(missing)
})

test('an interruption is told before anything that it caused', async () => {
  const leases = createLeases()
  const stop = new AbortController()
  const interrupted = new Error('interrupted')
  const work = underBackupLease(leases, { ...request, signal: stop.signal }, async (lease) => {
    stop.abort(interrupted)
    return await lease.cause(missing)
  })
  expect(await work).toBe(interrupted)
})
