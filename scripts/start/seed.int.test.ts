import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createRecordedDocuments } from '#shared/db/maintenance/recorded-documents.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { resetPassword } from '#shared/usecases/accounts/manage-operators.ts'
import { checkRecords, FIRST_RECORD } from '#shared/usecases/audit/check-records.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { writePrivate } from './private-file.ts'
import { keepSeed } from './seed.ts'

const stores = useStores()
let dataDir: string
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'paymesh-seed-'))
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const seeded = () => keepSeed(dataDir, stores.db, serviceContext(stores).config, stores.runtime)

test('the owner logs in with the same password after every start, until they choose another one', async () => {
  const users = createUserRepository(stores.db)
  const passwords = createPasswordHasher()
  const first = await seeded()
  const owner = await users.findByEmail(first.ownerEmail)
  expect(owner).toMatchObject({ isOperator: true, totp: null })
  expect(await passwords.verify(owner?.passwordHash ?? null, first.ownerPassword ?? '')).toBe(true)
  const memberships = createMembershipRepository(stores.db)
  expect((await memberships.rolesOf(owner?.id ?? '')).get(first.workspaceId)).toBe('owner')
  expect(await seeded()).toEqual(first)

  const deps = { ...stores.runtime, users, passwords, memberships }
  await resetPassword(deps, { email: first.ownerEmail, password: 'words of the owner', actor: 'test' })
  expect(await seeded()).toEqual({ ...first, ownerPassword: null })
  expect(readFileSync(join(dataDir, 'seed.json'), 'utf8')).not.toContain('words of the owner')
})

// Guarantee: `audit verify` misses no row of a seeded workspace, its keys, its owner and their membership.
test('everything that is seeded has its audit row', async () => {
  await seeded()
  const found = await checkRecords(createRecordedDocuments(stores.db), FIRST_RECORD, () => false)
  expect(found).toEqual({ missing: [], next: null })
})

test('a data folder from before there were log-ins gets its owner, and another folder the same person again', async () => {
  const before = await seeded()
  const { workspaceId, testKey, liveKey } = before
  writePrivate(join(dataDir, 'seed.json'), { workspaceId, testKey, liveKey })
  const after = await seeded()
  expect(after).toMatchObject({ workspaceId, testKey, liveKey, ownerEmail: before.ownerEmail })
  const owner = await createUserRepository(stores.db).findByEmail(after.ownerEmail)
  expect(await createPasswordHasher().verify(owner?.passwordHash ?? null, after.ownerPassword ?? '')).toBe(true)
})
