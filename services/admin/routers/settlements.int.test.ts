import { beforeAll, expect, test } from 'vitest'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { unseenDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from '#shared/db/payments/payment-model.ts'
import { exportSettlements } from '#shared/usecases/reports/export-settlements.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { readCsv } from '#test/support/csv-rows.ts'
import { sampleInvoice, sampleObservation } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const DAY_MS = 86_400_000
const MIDNIGHT = Date.UTC(2026, 10, 19)
let here: AdminCaller
let other: AdminCaller
const WALLETS = ['aa', 'bb'] as const
let walletIds: readonly string[]
let invoices = 0

async function insert(rows: readonly Partial<PaymentDocument>[], workspaceId = here.workspaceId): Promise<void> {
  const { terms, state, ...rest } = sampleInvoice(stores.runtime.random, {
    at: MIDNIGHT,
    number: ++invoices,
    workspaceId,
  })
  const { mode = terms.mode } = rows[0] ?? {}
  const invoice = { ...rest, terms: { ...terms, mode }, state: { ...state, mode } }
  await createInvoiceRepository(stores.db).insert(invoice)
  const invoiceId = terms.id
  const documents = rows.map((row) => {
    const id = stores.runtime.random.uuid()
    const plain = unseenDocument(sampleObservation(`settled:${id}`, { workspaceId, asset: 'usdt_ethereum' }), id, 1)
    const bookedAt = row.state === undefined ? [row.confirmedAt ?? new Date(MIDNIGHT)] : []
    const settled = { state: 'confirmed' as const, confirmedAt: new Date(MIDNIGHT), invoiceId, bookedAt }
    return { ...plain, ...settled, ...row }
  })
  await stores.db.collection(PAYMENTS).insertMany(documents)
}

beforeAll(async () => {
  here = await adminCaller(stores)
  other = await adminCaller(stores, { deps: () => here.deps })
  const { wallets, random } = here.deps
  // In the order of the report.
  walletIds = WALLETS.map(() => random.uuid()).sort()
  for (const [index, kind] of WALLETS.entries()) {
    const materialId = `test:evm:pool:${kind}`
    const blank = {
      sealed: '',
      sandbox: false,
      scriptType: null,
      nextIndex: 0,
      derivedCount: 0,
      returned: [],
      createdAt: index,
    }
    await wallets.upsertMaterial({
      ...blank,
      ...{ id: materialId, mode: 'test', family: 'evm', kind: 'pool', fingerprint: kind.repeat(16) },
    })
    const address = { mode: 'test', family: 'evm', matchKey: kind, address: `0x${kind}`, materialId } as const
    await wallets.addListed(materialId, [address])
    const id = walletIds[index] ?? ''
    await wallets.insertWallet({
      ...{ id, workspaceId: here.workspaceId, mode: 'test', family: 'evm', networks: ['ethereum', 'base'] },
      ...{ kind: 'pool', materialId, createdAt: index, disabledAt: null },
    })
  }
})

const report = async (more: Partial<Parameters<typeof here.caller.settlements.list>[0]> = {}) =>
  await here.caller.settlements.list({ ...here.at, ...more })
const short = ({ items }: Awaited<ReturnType<typeof report>>) =>
  items.map(({ day, wallet, symbol, payments, receivedBase }) =>
    [day, WALLETS[walletIds.indexOf(wallet?.id ?? '')] ?? '-', symbol, payments, receivedBase].join(' '),
  )

/** Guarantee: the sums of a day are exact at any size, and money of another workspace, mode or state is in none of them. */
test('adds up what is confirmed now, per UTC day, coin and wallet', async () => {
  const huge = '9007199254740993000000000000000000000000000001'
  await insert([
    { matchKey: 'aa', amountBase: huge },
    { matchKey: 'aa', amountBase: '2', confirmedAt: new Date(MIDNIGHT + DAY_MS - 1) },
    { matchKey: 'aa', amountBase: '5' },
    // Confirmed on the 18th and taken back on the 19th: neither day changes afterwards.
    {
      matchKey: 'bb',
      amountBase: '31',
      state: 'orphaned',
      confirmedAt: null,
      bookedAt: [new Date(MIDNIGHT - 1), new Date(MIDNIGHT + 1)],
    },
    { matchKey: 'bb', amountBase: '7' },
    { matchKey: 'bb', amountBase: '8', asset: 'eth_ethereum' },
    { matchKey: 'gone', amountBase: '9' },
    { matchKey: 'aa', amountBase: '11', confirmedAt: new Date(MIDNIGHT - 1) },
    { matchKey: 'aa', amountBase: '13', state: 'detected', confirmedAt: null },
    { matchKey: 'aa', amountBase: '17', state: 'orphaned', confirmedAt: null },
    { matchKey: 'aa', amountBase: '23', asset: null },
  ])
  await insert([{ matchKey: 'aa', amountBase: '19', mode: 'live' }])
  await insert([{ matchKey: 'aa', amountBase: '29' }], other.workspaceId)
  const found = await report()
  const sum = (BigInt(huge) + 7n).toString()
  expect(short(found)).toEqual([
    '2026-11-19 bb ETH 1 8',
    '2026-11-19 - USDT 1 9',
    `2026-11-19 aa USDT 3 ${sum}`,
    '2026-11-19 bb USDT 0 -24',
    '2026-11-18 aa USDT 1 11',
    '2026-11-18 bb USDT 1 31',
  ])
  expect(found.items.find(({ receivedBase }) => receivedBase === sum)?.received).toBe(
    `${sum.slice(0, -6)}.${sum.slice(-6)}`,
  )
  expect(found.nextCursor).toBeNull()
})

/** Guarantee: a report shows whole days only; half of a day that looks whole would be a wrong sum. */
test('never divides a day, whatever bound or page', async () => {
  const whole = short(await report()).filter((row) => row.startsWith('2026-11-19'))
  expect(short(await report({ from: MIDNIGHT + 5, to: MIDNIGHT + 6 }))).toEqual(whole)
  const first = await report({ limit: 1 })
  expect(short(first)).toEqual(whole)
  const second = await report({ limit: 1, ...(first.nextCursor !== null && { cursor: first.nextCursor }) })
  expect(short(second)).toEqual(['2026-11-18 aa USDT 1 11', '2026-11-18 bb USDT 1 31'])
  expect(second.nextCursor).toBeNull()
  expect(short(await report({ to: MIDNIGHT }))).toEqual(['2026-11-18 aa USDT 1 11', '2026-11-18 bb USDT 1 31'])
})

test('goes on past a batch whose payments were all confirmed at one moment', async () => {
  const at = new Date(MIDNIGHT - 10 * DAY_MS)
  await insert(Array.from({ length: 2_100 }, () => ({ matchKey: 'aa', amountBase: '1', confirmedAt: at })))
  const { items } = await report({ to: at.getTime() + 1 })
  expect(items.map(({ payments, receivedBase }) => [payments, receivedBase])).toEqual([[2_100, '2100']])
})

test('the file has the rows of the page', async () => {
  let text = ''
  const scope = { ...here.at, from: null, to: null, zone: 'UTC' }
  for await (const part of exportSettlements(here.deps.money, scope)) text += part
  const { items } = await report({ limit: 100 })
  expect(readCsv(text).map((row) => [row['day'], row['wallet_id'], row['received_amount'], row['payments']])).toEqual(
    items.map(({ day, wallet, received, payments }) => [day, wallet?.id ?? '', received, String(payments)]),
  )
})

// A number that is no date must not become an error of the server.
test('refuses a time that no date can hold', async () => {
  await expect(report({ from: 8.64e15 + 1 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(report({ to: -1 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect(await report({ from: 0, to: 8.64e15 })).toBeDefined()
})
