import type mongoose from 'mongoose'
import { beforeAll, expect, test } from 'vitest'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import { useStores } from '#test/support/stores.ts'
import { INVITATIONS, MEMBERSHIPS, SESSIONS, USERS } from './operator-models.ts'

const stores = useStores()
const ROWS = 300

beforeAll(async () => {
  const rows = Array.from({ length: ROWS }, (_, row) => row)
  const at = new Date()
  // Only the fields that the indexes read.
  const insert = async (model: CollectionModel<mongoose.mongo.Document>, rowOf: (row: number) => object) =>
    await stores.db.collection(model).insertMany(rows.map(rowOf), { bypassDocumentValidation: true })
  await insert(USERS, (row) => ({ email: `p${row}@example.com` }))
  await insert(SESSIONS, (row) => ({
    userId: `u${row % 9}`,
    loginId: `l${row}`,
    loggedInAt: at,
    endsAt: at,
    replaced: false,
  }))
  await insert(MEMBERSHIPS, (row) => ({
    workspaceId: `w${row % 7}`,
    userId: `u${row}`,
    role: row % 2 ? 'owner' : 'viewer',
  }))
  await insert(INVITATIONS, (row) => ({
    workspaceId: `w${row % 7}`,
    tokenHash: `t${row}`,
    createdAt: at,
    expiresAt: at,
    closed: null,
  }))
})

const QUERIES: readonly (readonly [
  string,
  CollectionModel<mongoose.mongo.Document>,
  object,
  Record<string, 1 | -1>,
])[] = [
  ['user_email', USERS, { email: 'p7@example.com' }, {}],
  ['session_user', SESSIONS, { userId: 'u3', replaced: false }, { loggedInAt: -1 }],
  ['session_user', SESSIONS, { userId: 'u3', loginId: 'l3' }, {}],
  ['membership_user', MEMBERSHIPS, { userId: 'u3' }, {}],
  ['membership_workspace', MEMBERSHIPS, { workspaceId: 'w3' }, {}],
  ['membership_workspace', MEMBERSHIPS, { workspaceId: 'w3', role: 'owner' }, {}],
  ['invitation_token', INVITATIONS, { tokenHash: 't3' }, {}],
  [
    'invitation_workspace',
    INVITATIONS,
    { workspaceId: 'w3', closed: null, expiresAt: { $gt: new Date() } },
    { createdAt: -1 },
  ],
]

test.each(QUERIES)('%s answers its question', async (index, model, filter, sort) => {
  const plan = await stores.db.collection(model).find(filter).sort(sort).limit(10).explain('queryPlanner')
  const text = JSON.stringify(plan['queryPlanner'].winningPlan)
  expect(text).toContain(`"indexName":"${index}"`)
  expect(text).not.toContain('"SORT"')
})
