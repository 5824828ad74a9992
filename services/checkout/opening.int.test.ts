import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
/** Indexes that a process reserves at once, for the next invoices of anybody. */
const BLOCK = 16
let stage: CheckoutStage
let second: CheckoutStage
beforeAll(async () => {
  stage = await openCheckout(stores)
  // Another checkout process on the same stores.
  second = await openCheckout(stores)
})
afterAll(async () => {
  await stage.close()
  await second.close()
})

/** A digest of every document of the installation, by collection; `without` names a field that it leaves out. */
async function everything(without: string): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {}
  for (const { name } of await stores.db.connection.listCollections()) {
    const found = stores.db.connection
      .collection(name)
      .find()
      .project({ [without]: 0 })
    const rows = await found.sort({ _id: 1 }).toArray()
    digests[name] = `${rows.length} ${createHash('sha256').update(JSON.stringify(rows)).digest('hex')}`
  }
  return digests
}

/** Next index of each extended key, by id. */
async function nextIndexes(): Promise<Readonly<Record<string, number>>> {
  const rows = await stores.db.collection(KEY_MATERIAL).find().toArray()
  return Object.fromEntries(rows.map(({ _id, nextIndex }) => [_id, nextIndex]))
}

// Guarantee: crawlers, previews and people who only look use up nothing, however many pages they open.
it('opening any page claims and stores nothing; the process stocks at most one block of a key’s indexes', async () => {
  const link = await stage.link({ kind: 'fixed', minor: 700n })
  const fresh = (await stage.engine.open()).terms.id
  const chosen = (await stage.engine.open({ asset: 'usdt_ethereum' })).terms.id
  // As every process does at its start.
  await createInstallationLifeRepository(stores.db).read()
  const before = await everything('nextIndex')
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['addresses', 'invoices', 'workspaces']))
  const indexes = await nextIndexes()
  const paths = [
    ...[fresh, chosen].flatMap((id) => [`/i/${id}`, `/i/${id}/receipt`, `/api/i/${id}`, `/api/i/${id}/assets`]),
    ...[`/l/${link}`, `/api/l/${link}`, `/r/${'q'.repeat(43)}`, `/api/r/${'q'.repeat(43)}`],
  ]
  const visit = async () => {
    for (let times = 0; times < 10; times += 1) await Promise.all(paths.map((path) => stage.get(path)))
  }
  await visit()
  for (const id of [fresh, chosen]) {
    const live = await fetch(`${stage.url}/api/i/${id}/live`)
    expect(live.status).toBe(200)
    await live.body?.cancel()
  }
  expect(await everything('nextIndex')).toEqual(before)
  const stocked = await nextIndexes()
  for (const [key, next] of Object.entries(stocked)) expect(next - (indexes[key] ?? 0)).toBeLessThanOrEqual(BLOCK)
  await visit()
  expect(await nextIndexes()).toEqual(stocked)
})

describe('a click on a link', () => {
  // Guarantee: one click is one invoice, also when two processes receive it at the same moment.
  it('makes one invoice without an address at two processes at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const link = await stage.link({ kind: 'fixed', minor: 700n })
      const actionId = randomUUID()
      const replies = await Promise.all(
        [stage, second].flatMap((at) =>
          Array.from({ length: 4 }, () => at.post(`/api/l/${link}/invoice`, { actionId }, `203.0.113.${round}`)),
        ),
      )
      expect(new Set(replies.map(({ status, body }) => `${status} ${body.invoice?.id}`)).size).toBe(1)
      const rows = await stores.db.collection(INVOICES).find({ paymentLinkId: link }).toArray()
      expect(rows).toMatchObject([{ paymentMethods: [] }])
      expect(rows[0]?.claims ?? []).toEqual([])
    }
  })
})
