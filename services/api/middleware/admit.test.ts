import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { createMemoryAdmission } from '#shared/queues/memory/memory-signals.ts'
import type { Credential } from '#shared/usecases/workspaces/api-key-cache.ts'
import { admit } from './execute.ts'

const credential = {
  key: { id: 'k1', workspaceId: 'w1', mode: 'test', epoch: 0 },
  workspace: { id: 'w1', epoch: 0 },
  fresh: { key: true, workspace: true },
} as unknown as Credential
const request = {
  headers: { authorization: 'Bearer sk_test_key', 'idempotency-key': 'order-1' },
} as unknown as IncomingMessage

// Guarantee: a store that fails while a key is confirmed payment methods no idempotency key: the merchant's repetition is not refused as running.
it('clears the mark of an operation whose key could not be confirmed', async () => {
  const { limiter } = createMemoryAdmission()
  let isDown = true
  const keyRing = {
    find: async () => credential,
    confirm: async () => {
      if (isDown) throw new Error('the store is down')
      return credential
    },
    forgetAll: () => undefined,
  }
  const keyUse = { note: () => undefined } as unknown as Parameters<typeof admit>[0]['keyUse']
  const deps = { keyRing, keyUse, limiter, trustedProxies: 0 }
  await expect(admit(deps, request, 'req_1', '/invoices')).rejects.toThrow('the store is down')
  isDown = false
  expect(await admit(deps, request, 'req_2', '/invoices')).toMatchObject({ admission: { marker: 'set' } })
  // While it runs, a repetition is recognised as running.
  expect(await admit(deps, request, 'req_3', '/invoices')).toMatchObject({
    admission: { marker: 'busy' },
    marker: null,
  })
})

// Guarantee: a slow answer of the limiter payment methods no idempotency key.
it('holds a mark that may have been set', async () => {
  const { limiter } = createMemoryAdmission()
  const keyRing = { find: async () => credential, confirm: async () => credential, forgetAll: () => undefined }
  const keyUse = { note: () => undefined } as unknown as Parameters<typeof admit>[0]['keyUse']
  const slow = {
    ...limiter,
    admit: async (...args: Parameters<typeof limiter.admit>) => ({
      ...(await limiter.admit(...args)),
      marker: 'unknown' as const,
    }),
  }
  const admitted = await admit({ keyRing, keyUse, limiter: slow, trustedProxies: 0 }, request, 'req_1', '/invoices')
  expect(admitted.marker).toMatchObject({ owner: 'req_1' })
})
