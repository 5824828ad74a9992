import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRecordedDocuments } from '#shared/db/maintenance/recorded-documents.ts'
import { checkRecords, FIRST_RECORD } from '#shared/usecases/audit/check-records.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { appRouter } from './app-router.ts'
import type { AuditBehaviour, OnceAttack } from './attack-kinds.fixture.ts'
import { LIVE_ATTACKS } from './attack-live.fixture.ts'
import { AUDIT_BEHAVIOUR } from './attack-table.fixture.ts'
import { type AttackWorld, openAttackWorld } from './attack-world.fixture.ts'
import type { ProcedureMeta } from './trpc.ts'

const stores = useStores()
let world: AttackWorld
beforeAll(async () => {
  world = await openAttackWorld(stores)
})
// Scenes use up addresses, and on a slow machine they outlive a rate.
beforeEach(async () => {
  await world.engine.watchEverything()
  await world.engine.publishRates()
})

type Procedures = Readonly<Record<string, { readonly _def: { readonly type: string; readonly meta?: ProcedureMeta } }>>

/** Procedures whose trace nobody declared, or that declare an operation id and do not check it. */
function undeclared(procedures: Procedures, declared: Readonly<Record<string, AuditBehaviour>>): readonly string[] {
  return Object.entries(procedures).flatMap(([path, { _def }]) => {
    if (_def.type !== 'mutation') return []
    const behaviour = declared[path]
    if (behaviour === undefined) return [`${path}: declares no audit rows`]
    if (behaviour.audit === 'once' && _def.meta?.once !== true) return [`${path}: does not bind its opId`]
    return []
  })
}

async function call(path: string, input: object): Promise<unknown> {
  let target: unknown = world.boss.caller
  for (const name of path.split('.')) target = (target as Record<string, unknown>)[name]
  const { access } = (appRouter._def.procedures as unknown as Procedures)[path]?._def.meta ?? {}
  const at = access === 'operator' ? {} : world.boss.at
  return await (target as (given: object) => Promise<unknown>)({ ...at, ...input })
}

const attacks = Object.entries(AUDIT_BEHAVIOUR).filter(
  (entry): entry is [string, OnceAttack] => entry[1].audit === 'once',
)

/** Documents without the row that `audit verify` looks for; stages store some. */
const unrecorded = async () =>
  (await checkRecords(createRecordedDocuments(stores.db), FIRST_RECORD, () => false)).missing

/** A request, the same one again, and another one under its id: what it left, once. */
async function thrice(path: string, attack: OnceAttack): Promise<() => Promise<unknown>> {
  const { input, other, undo } = await attack.stage(world)
  const opId = randomUUID()
  const before = await world.count()
  const unrecordedBefore = await unrecorded()
  await call(path, { ...input, opId })
  const after = await world.count()
  // Guarantee: verification misses the row of no document that the dashboard stores.
  expect(await unrecorded()).toEqual(unrecordedBefore)
  expect({ rows: after.rows - before.rows, mails: after.mails - before.mails }).toEqual({
    rows: attack.rows,
    mails: attack.mails,
  })

  const unchanged = await world.digest()
  // What is gone may be answered as gone.
  await call(path, { ...input, opId }).catch((error: { code: string }) => expect(error.code).toBe('NOT_FOUND'))
  await world.count()
  expect(await world.digest()).toEqual(unchanged)
  await expect(call(path, { ...other, opId })).rejects.toMatchObject({
    code: 'CONFLICT',
    cause: { code: 'IDEMPOTENCY_MISMATCH' },
  })
  await world.count()
  expect(await world.digest()).toEqual(unchanged)

  return async () => {
    if (undo === undefined) return
    await undo()
    await world.count()
    const undone = await world.digest()
    await call(path, { ...input, opId }).catch((error: { code: string }) =>
      expect(error.code).toMatch(/CONFLICT|NOT_FOUND/),
    )
    await world.count()
    expect(await world.digest()).toEqual(undone)
  }
}

describe('every change of an operator', () => {
  test('declares what it leaves in the audit trail, and the check shows one that does not', () => {
    const procedures = appRouter._def.procedures as unknown as Procedures
    expect(undeclared(procedures, AUDIT_BEHAVIOUR)).toEqual([])
    expect(Object.keys(AUDIT_BEHAVIOUR).filter((path) => procedures[path]?._def.type !== 'mutation')).toEqual([])
    const silent = { 'shop.close': { _def: { type: 'mutation' } } }
    expect(undeclared(silent, AUDIT_BEHAVIOUR)).toEqual(['shop.close: declares no audit rows'])
    expect(undeclared(silent, { 'shop.close': { ...attacks[0]?.[1] } as OnceAttack })).toEqual([
      'shop.close: does not bind its opId',
    ])
  })

  // Guarantee: a request leaves its rows and mails once; repeated it changes nothing, and with other content it is refused.
  test.each(sampleOf(attacks, 4))(
    '%s: fresh, repeated, with other content, repeated after it was undone',
    async (path, attack) => {
      const repeatAfterUndo = await thrice(path, attack)
      await repeatAfterUndo()
    },
  )

  // Guarantee: an owner gets one mail about each change of a live key, endpoint or wallet, whichever view it was made from.
  test.each(sampleOf(LIVE_ATTACKS, 3))('%s (%s): fresh, repeated, with other content', async (path, _what, attack) => {
    await thrice(path, attack)
  })

  // Guarantee: what declares that it stores nothing stores nothing.
  test('a mutation without rows leaves the store as it was', async () => {
    const silent = Object.entries(AUDIT_BEHAVIOUR).filter(([, { audit }]) => audit === 'stores_nothing')
    expect(silent.map(([path]) => path)).toEqual(['wallets.prepare'])
    const value = '0x52908400098527886E0F7030069857D2E4169EE7'
    const before = await world.digest()
    await call('wallets.prepare', { family: 'evm', kind: 'address', value })
    expect(await world.digest()).toEqual(before)
  })

  test('keys, endpoints and wallets that need a code are attacked in live mode too', () => {
    const procedures = appRouter._def.procedures as unknown as Procedures
    // The first table proves a wallet of live mode.
    const attacked = new Set<string>([...LIVE_ATTACKS.map(([path]) => path), 'wallets.prove'])
    const needed = Object.keys(procedures).filter(
      (path) => /^(apiKeys|endpoints|wallets)\./.test(path) && procedures[path]?._def.meta?.stepUp === true,
    )
    expect(needed.filter((path) => !attacked.has(path))).toEqual([])
  })

  // Guarantee: two processes that are given one opId at the same moment carry it out once.
  test.each(sampleOf(attacks, 4))('%s: twice at the same moment', async (path, attack) => {
    const { input } = await attack.stage(world)
    const opId = randomUUID()
    const before = await world.count()
    const outcomes = await Promise.allSettled([1, 2].map(() => call(path, { ...input, opId })))
    expect(outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : one.status))).toContain('fulfilled')
    const after = await world.count()
    expect({ rows: after.rows - before.rows, mails: after.mails - before.mails }).toEqual({
      rows: attack.rows,
      mails: attack.mails,
    })
  })
})
