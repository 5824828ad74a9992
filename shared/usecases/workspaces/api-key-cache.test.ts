import { beforeEach, expect, test } from 'vitest'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createKeyRing, type KeyRing } from './api-key-cache.ts'
import { DEFAULT_POLICY } from './create-workspace.ts'

const API_KEY = newApiKey('test', { bytes: (length) => new Uint8Array(length).fill(7) })
let key: ApiKeyRecord
let workspace: Workspace
let now: number
let reads: number
let ring: KeyRing

beforeEach(() => {
  now = 1_000_000
  reads = 0
  const shared = { workspaceId: 'w', mode: 'test', hash: 'h', last4: '0000', scopes: SCOPES, createdAt: 0 } as const
  key = { ...shared, id: 'k', epoch: 3, revokedAt: null, createdBy: 'cli:test' }
  const limits = { invoicesPerMonth: null, paymentLinks: null, webhookEndpoints: null }
  workspace = {
    id: 'w',
    name: 'S',
    ownerEmail: 'o@e.x',
    status: 'active',
    limits,
    policy: DEFAULT_POLICY,
    epoch: 5,
    createdAt: 0,
  }
  ring = createKeyRing({
    keys: {
      findByHash: () => {
        reads += 1
        return Promise.resolve(key)
      },
    },
    workspaces: standIn({ findById: () => Promise.resolve(workspace) }),
    hasher: { hash: () => 'h' },
    clock: { now: () => now },
  })
})

const SAME = { keyEpoch: 3, workspaceEpoch: 5 }
async function use(epochs: { keyEpoch: number | null; workspaceEpoch: number | null }) {
  const found = await ring.find(API_KEY)
  return found && ring.confirm(found, epochs)
}

test('reads a key once in five seconds while the epochs agree', async () => {
  for (const _ of [1, 2, 3]) expect(await use(SAME)).not.toBeNull()
  expect(reads).toBe(1)
  now += 5_000
  await use(SAME)
  expect(reads).toBe(2)
})

// Guarantee: a cached record never outlives a revocation or a suspension.
test('reads again when an epoch differs or is unknown', async () => {
  await use(SAME)
  key = { ...key, epoch: 4, revokedAt: now }
  expect(await use({ keyEpoch: 4, workspaceEpoch: 5 })).toBeNull()
  key = { ...key, epoch: 4, revokedAt: null }
  await use({ keyEpoch: 4, workspaceEpoch: 5 })
  workspace = { ...workspace, epoch: 6, status: 'suspended' }
  expect((await use({ keyEpoch: 4, workspaceEpoch: 6 }))?.workspace.status).toBe('suspended')
  key = { ...key, revokedAt: now }
  expect(await use({ keyEpoch: null, workspaceEpoch: null })).toBeNull()
})

test('asks nobody about a text that is no key', async () => {
  expect(await ring.find(`${API_KEY}x`)).toBeNull()
  expect(reads).toBe(0)
})
