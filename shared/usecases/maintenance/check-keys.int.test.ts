import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { createKeyCanaryRepository, KEY_CANARY_FACT } from '#shared/db/installation/key-canary-repository.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { createKeyHasher, createSecretBox, type MasterKeys } from '#shared/runtime/secrets/secret-box.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { useStores } from '#test/support/stores.ts'
import { checkKeys } from './check-keys.ts'

const stores = useStores()
const [MASTER, OTHER, PEPPER] = [randomBytes(32), randomBytes(32), randomBytes(32)]

const check = (masterKeys: MasterKeys | null, pepper: Uint8Array | null) =>
  checkKeys({
    canary: createKeyCanaryRepository(stores.db),
    sealed: createSealedSecretRepository(stores.db),
    secretBox: masterKeys === null ? null : createSecretBox(masterKeys),
    hasher: pepper === null ? null : createKeyHasher(pepper),
  })

beforeEach(async () => {
  await stores.db.collection(INSTALLATION).deleteOne({ _id: KEY_CANARY_FACT })
})

describe('the keys of a process', () => {
  it('are right when they are those of the process that came first', async () => {
    expect(await check([MASTER], PEPPER)).toBeNull()
    expect(await check([MASTER], PEPPER)).toBeNull()
    expect(await check([OTHER, MASTER], PEPPER)).toBeNull()
    expect(await check([MASTER], null)).toBeNull()
    expect(await check(null, null)).toBeNull()
  })

  // Guarantee: a wrong key is named at the start, before anything is sealed under it or an API key is refused because of it.
  it('are named when they are wrong, each of them', async () => {
    await check([MASTER], PEPPER)
    const [wrongMaster, wrongPepper, both] = [
      await check([OTHER], PEPPER),
      await check([MASTER], OTHER),
      await check([OTHER], OTHER),
    ]
    expect(wrongMaster).toMatch(/^PAYMESH_MASTER_KEY does not match this installation/)
    expect(wrongMaster).not.toContain('PEPPER')
    expect(wrongPepper).toMatch(/^PAYMESH_KEY_PEPPER does not match this installation/)
    expect(both).toContain('PAYMESH_MASTER_KEY does not match')
    expect(both).toContain('PAYMESH_KEY_PEPPER does not match')
    for (const fault of [wrongMaster, wrongPepper]) expect(fault).not.toContain(OTHER.toString('base64'))
  })

  it('are left alone by processes that hold one of them, before there is a canary', async () => {
    expect(await check([OTHER], null)).toBeNull()
    expect(await check(null, OTHER)).toBeNull()
    expect(await createKeyCanaryRepository(stores.db).find()).toBeNull()
  })

  // Guarantee: after an update of an installation that has no canary yet, a process with a wrong key cannot declare itself right.
  it('cannot make a canary in an installation whose secrets they do not open', async () => {
    await givePending(stores.db, createSecretBox(MASTER), 1, { url: 'https://shop.example' })
    expect(await check([OTHER], PEPPER)).toMatch(/^PAYMESH_MASTER_KEY does not match this installation/)
    expect(await createKeyCanaryRepository(stores.db).find()).toBeNull()
    expect(await check([MASTER], PEPPER)).toBeNull()
  })
})
