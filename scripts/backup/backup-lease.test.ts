import { expect, test } from 'vitest'
import { type LeaseRequest, LeaseTaken, underBackupLease } from './backup-lease.ts'

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

/** What a back-up that fails tells, after `before` has happened. */
async function told(
  request: LeaseRequest,
  leases: ReturnType<typeof createLeases>,
  before: () => void,
): Promise<unknown> {
  const failing = underBackupLease(leases, request, async (lease) => {
    before()
    await lease.rethrowEnd()
    throw missing
  })
  return await failing.catch((error: unknown) => error)
}

test('a failure after another process took the lease is told as that, and its lease stays', async () => {
  const leases = createLeases()
  // The process was suspended; the other one removed the unfinished archive.
  expect(await told(request, leases, () => leases.takeOver('second'))).toBeInstanceOf(LeaseTaken)
  expect(leases.holder()).toBe('second')
})

test('a failure while the lease is held, or while the store cannot be asked, is told as it is', async () => {
  const leases = createLeases()
  expect(await told(request, leases, () => undefined)).toBe(missing)
  const lost = await told(request, leases, () => {
    leases.acquire = async () => {
      throw new Error('no primary')
    }
  })
  expect(lost).toBe(missing)
})

test('an interruption is told before anything that it caused', async () => {
  const stop = new AbortController()
  const interrupted = new Error('interrupted')
  const one = { ...request, signal: stop.signal }
  expect(await told(one, createLeases(), () => stop.abort(interrupted))).toBe(interrupted)
})
