import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type AttackWorld, openAttackWorld } from '#services/admin/attack-world.fixture.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'
import { actorName } from './session/actor.ts'

const stores = useStores()
let world: AttackWorld
let number = 9_000
beforeAll(async () => {
  world = await openAttackWorld(stores)
  const { caller, at } = world.boss
  const { version } = await caller.workspace.get(at)
  await caller.workspace.update({ ...at, opId: randomUUID(), version, change: { largeSumUsd: 0 } })
})
/** The command line takes its secrets out of the environment when it starts. */
function setEnvironment(): void {
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
    PAYMESH_ENV: 'test',
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
}

beforeEach(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  await world.engine.watchEverything()
  await world.engine.publishRates()
})
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** An expired invoice and money in another coin, whose value somebody has to state; stored as of live mode, for which there is no chain here. */
async function foreignMoney(mode: 'live' | 'test') {
  const { invoiceId, payment } = await world.latePayment()
  number += 1
  await stores.db.collection(INVOICES).updateOne({ _id: invoiceId }, { $set: { mode, number } })
  await stores.db.collection(PAYMENTS).updateOne({ _id: payment.id }, { $set: { mode, asset: 'usdc_ethereum' } })
  const due =
    (await world.engine.deps.invoices.findById(invoiceId))?.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
  return ['payment', 'attach', payment.id, '--invoice', invoiceId, '--value', String(due), '--json']
}

const notices = async () => await stores.db.collection(MAILS).find({ template: 'owner_notice' }).toArray()

/** The mails that a command adds. */
async function mailsOf(args: readonly string[]) {
  const before = new Set((await notices()).map(({ _id }) => _id))
  setEnvironment()
  const status = await runCli([...args])
  process.exitCode = 0
  expect(status).toBe(0)
  await world.count()
  return (await notices()).filter(({ _id }) => !before.has(_id))
}

// Guarantee: nobody at the machine writes off more than the threshold in live mode without a mail to every owner.
describe('payment attach above the threshold', () => {
  it('is mailed to every owner, once, and a dry run to nobody', async () => {
    const args = await foreignMoney('live')
    expect(await mailsOf([...args, '--dry-run'])).toEqual([])
    const data = { actor: actorName(), from: 'the command line of the server' }
    const mails = await mailsOf(args)
    expect(mails).toMatchObject([{ to: 'owner@example.com', data }])
    expect(mails[0]?.data['sentence']).toMatch(/\d+\.\d\d USD/)
    expect(await mailsOf(args)).toEqual([])
  })

  it('is mailed to nobody in test mode', async () => {
    expect(await mailsOf(await foreignMoney('test'))).toEqual([])
  })
})
