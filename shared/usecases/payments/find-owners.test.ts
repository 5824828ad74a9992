import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import type { PaymentMethod } from '#shared/domain/invoice/model.ts'
import { addressSubject, type OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { ClaimHolder } from '#shared/ports/invoices.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { addressClaim, amountClaim } from '#shared/usecases/wallets/address-standing.ts'
import { samplePaymentMethod } from '#test/support/db-samples.ts'
import { standIn } from '#test/support/stand-in.ts'
import { attributeTransfers, findOwners } from './attribute-transfers.ts'

const LAG = 120_000
const scope = { mode: 'test', network: 'solana', family: 'solana' } as const
const KEY = 'aa'.repeat(32)
const reference = (byte: string) => byte.repeat(32)

interface Request {
  readonly id: string
  readonly amountBase: bigint
  readonly from: number
  readonly releasedAt?: number | null
  readonly kind?: 'address' | 'amount'
  readonly reference?: string
}

function holder({ id, amountBase, from, releasedAt = null, kind = 'amount', reference: named }: Request): ClaimHolder {
  const base = samplePaymentMethod(KEY, from)
  const paymentMethod: PaymentMethod = {
    ...base,
    asset: 'usdc_solana',
    network: 'solana',
    family: 'solana',
    claim:
      kind === 'amount'
        ? amountClaim('test', 'solana', KEY, 'usdc_solana', amountBase)
        : addressClaim('test', 'solana', KEY),
    hold: { kind, quarantineMs: 0, heldMs: 86_400_000, releasedAt },
    quotes: base.quotes.map((quote) => ({ ...quote, amountBase })),
    ...(named !== undefined && { reference: named }),
  }
  return { invoiceId: id, workspaceId: `ws-${id}`, number: 1, paymentMethods: [paymentMethod] }
}

/** The unique index: a claim that stands has one holder; released ones are not found. */
function repository(holders: readonly ClaimHolder[]) {
  const stands = (claim: string) => (paymentMethod: PaymentMethod) =>
    paymentMethod.claim === claim && paymentMethod.hold?.releasedAt === null
  return {
    findByClaims: async (claims: readonly string[]) =>
      holders.filter(({ paymentMethods }) => claims.some((claim) => paymentMethods.some(stands(claim)))),
    findByReferences: async (_mode: string, references: readonly string[]) =>
      holders.filter(({ paymentMethods }) =>
        paymentMethods.some((paymentMethod) => references.includes(paymentMethod.reference ?? '')),
      ),
  }
}

const transfer = (amountBase: bigint, references: readonly string[] = []): RawTransfer => ({
  key: 'test:solana:sig:owner:mint',
  matchKey: KEY,
  toAddress: 'address',
  fromAddress: null,
  asset: 'usdc_solana',
  contract: null,
  amountBase,
  txHash: 'sig',
  outputIndex: null,
  references,
})

/** The address as it is stored, and who proved it last. */
function provedBy(proof: OwnershipProof | null) {
  const row = { ...scope, matchKey: KEY, address: 'address', materialId: 'm', index: 0, watchedOn: [] }
  const subject = addressSubject('test', 'solana', KEY)
  return {
    findAddresses: async () => [row],
    findProofs: async () => new Map(proof === null ? [] : [[subject, proof]]),
  }
}

async function ownersOf(
  holders: readonly ClaimHolder[],
  paid: RawTransfer,
  seenAt: number,
  { proof = null, seenBy = seenAt }: { readonly proof?: OwnershipProof | null; readonly seenBy?: number } = {},
) {
  const seen = { transfer: paid, seenAt, seenBy }
  const answer = await findOwners(
    { invoices: standIn(repository(holders)), wallets: standIn(provedBy(proof)) },
    scope,
    [seen],
  )
  return answer(seen).map((part) => [part.holder?.invoiceId ?? null, part.transfer.amountBase, part.transfer.key])
}

const KEY_OF = 'test:solana:sig:owner:mint'

describe('who a transfer belongs to', () => {
  const shop = [
    holder({ id: 'a', amountBase: 101n, from: 1_000_000, reference: reference('0a') }),
    holder({ id: 'b', amountBase: 102n, from: 1_000_000, reference: reference('0b') }),
  ]

  it('is told by the reference first, whatever the amount', async () => {
    expect(await ownersOf(shop, transfer(102n, [reference('0a')]), 1)).toEqual([['a', 102n, KEY_OF]])
    expect(await ownersOf(shop, transfer(7n, ['ff'.repeat(32), reference('0b')]), 1)).toEqual([['b', 7n, KEY_OF]])
  })

  it('is told by the exact amount without a reference, else by nothing', async () => {
    expect(await ownersOf(shop, transfer(101n), 1_000_000)).toEqual([['a', 101n, KEY_OF]])
    expect(await ownersOf(shop, transfer(100n), 1_000_000)).toEqual([[null, 100n, KEY_OF]])
    expect(await ownersOf(shop, transfer(203n), 1_000_000)).toEqual([[null, 203n, KEY_OF]])
  })

  // Guarantee: one transaction that pays two invoices credits each once, and never both with the whole.
  it('is split by references when both amounts are in it, and nobody gets it otherwise', async () => {
    const both = [reference('0b'), reference('0a')]
    expect(await ownersOf(shop, transfer(203n, both), 1)).toEqual([
      ['a', 101n, `${KEY_OF}:${reference('0a')}`],
      ['b', 102n, `${KEY_OF}:${reference('0b')}`],
    ])
    expect(await ownersOf(shop, transfer(150n, both), 1)).toEqual([[null, 150n, KEY_OF]])
  })

  // Guarantee: what a payer may collect, five invoices of twenty prices each, costs next to nothing with each transfer that names them.
  it('is looked for among all prices of five invoices, the oldest first', async () => {
    let readings = 0
    const counted = (amountBase: bigint) => ({
      [Symbol.toPrimitive]() {
        readings += 1
        return amountBase
      },
    })
    const five = (priceOf: (amountBase: bigint) => unknown) =>
      [0, 1, 2, 3, 4].map((index): ClaimHolder => {
        const one = holder({ id: `i${index}`, amountBase: 1n, from: 1, reference: reference(`0${index}`) })
        const prices = Array.from({ length: 20 }, (_, price) => priceOf(BigInt(20 ** index * price + 10 ** 9)))
        const priced = ({ quotes, ...method }: PaymentMethod) => ({
          ...method,
          quotes: quotes.flatMap((quote) =>
            prices.map((amountBase) => ({ ...quote, amountBase: amountBase as bigint })),
          ),
        })
        return { ...one, paymentMethods: one.paymentMethods.map(priced) }
      })
    const named = [0, 1, 2, 3, 4].map((index) => reference(`0${index}`))
    const total = 5n * 10n ** 9n
    expect(await ownersOf(five(counted), transfer(total * 2n, named), 1)).toHaveLength(1)
    expect(readings).toBeLessThan(20_000)
    const found = await ownersOf(
      five((amountBase) => amountBase),
      transfer(total + 20n, named),
      1,
    )
    expect(found.map(([, amountBase]) => amountBase)).toEqual([0n, 20n, 0n, 0n, 0n].map((more) => more + 10n ** 9n))
  })

  // Guarantee: money of one holder's time never goes to the next holder, nor does it go to two.
  it('follows hold intervals: at most one owner, and only while its claim stood', () => {
    const lease = fc.record({ from: fc.nat(1_000), lasts: fc.integer({ min: 1, max: 1_000 }) })
    return fc.assert(
      fc.asyncProperty(
        fc.array(lease, { maxLength: 6 }),
        fc.constantFrom('address' as const, 'amount' as const),
        fc.nat(9_000),
        async (leases, kind, minute) => {
          // Leases one after another, as the unique claim makes them; only the last may still stand.
          let next = 1_000
          const holders = leases.map(({ from, lasts }, index) => {
            const start = next + from
            next = start + lasts
            const releasedAt = index === leases.length - 1 ? null : next * 60_000
            return holder({ id: String(index), amountBase: 5n, from: start * 60_000, releasedAt, kind })
          })
          const seenAt = minute * 60_000
          const last = holders.at(-1)
          const from = last?.paymentMethods[0]?.from ?? 0
          const expected = last !== undefined && seenAt >= from - LAG ? last.invoiceId : null
          expect(await ownersOf(holders, transfer(5n), seenAt)).toEqual([[expected, 5n, KEY_OF]])
        },
      ),
    )
  })
})

describe('money of which a node states an age that is refuted', () => {
  const at = 1_000_000
  const paid = transfer(7n)
  const known = { seenBy: at + 60_000 }

  // Guarantee: a wrong clock of a node takes a payment from nobody's invoice.
  it('is the holder’s, if it may have come since the address was offered', async () => {
    const shop = [holder({ id: 'a', amountBase: 5n, from: at, kind: 'address' })]
    expect(await ownersOf(shop, paid, at - LAG - 1)).toEqual([[null, 7n, KEY_OF]])
    expect(await ownersOf(shop, paid, at - LAG - 1, known)).toEqual([['a', 7n, KEY_OF]])
  })

  // Guarantee: no wrong clock of a node takes the locked price from it either. Found by the simulation.
  it.each([
    ['not before the address was offered, where it may have come since', at + 60_000, at - LAG],
    ['as its node states, where it cannot have come since', at - LAG - 1, 5],
  ])('counts as seen %s', async (_words, seenBy, firstSeenAt) => {
    const shop = [holder({ id: 'a', amountBase: 5n, from: at, kind: 'address' })]
    const found = [{ transfer: paid, block: null, seenAt: 5, seenBy }]
    const input = { mode: 'test', network: 'solana', found } as const
    const catalog = createCatalog({ live: {}, test: {} })
    expect(
      await attributeTransfers(
        { invoices: standIn(repository(shop)), wallets: standIn(provedBy(null)), catalog },
        input,
      ),
    ).toMatchObject([{ firstSeenAt }])
  })

  // Guarantee: money that may be an earlier holder's is left to a person, also if both were asked for the same amount.
  it('is a person’s to decide where another invoice had the address shortly before', async () => {
    const one = holder({ id: 'b', amountBase: 5n, from: at, kind: 'address' })
    const priorHold = { invoiceId: 'a', workspaceId: 'ws-a', number: 1, until: at + 86_400_000 }
    const shop = [{ ...one, paymentMethods: one.paymentMethods.map((method) => ({ ...method, priorHold })) }]
    expect(await ownersOf(shop, paid, at - LAG - 1, known)).toEqual([[null, 7n, KEY_OF]])
    expect(await ownersOf(shop, transfer(5n), at - LAG - 1, known)).toEqual([[null, 5n, KEY_OF]])
  })
})

describe('on an address that a workspace proved', () => {
  const own = holder({ id: 'a', amountBase: 5n, from: 0, kind: 'address', reference: reference('cd') })
  const exact = holder({ id: 'b', amountBase: 5n, from: 0 })
  const by = (workspaceId: string, provedAt = 1_000_000) => ({ workspaceId, provedAt })

  // Guarantee: the coins are the prover's, so no invoice of another workspace is settled with them, by address, amount or reference.
  it('money seen since then settles no invoice of others', async () => {
    expect(await ownersOf([own], transfer(5n), 1_000_000, { proof: by('ws-x') })).toEqual([[null, 5n, KEY_OF]])
    expect(await ownersOf([exact], transfer(5n), 1_000_000, { proof: by('ws-x') })).toEqual([[null, 5n, KEY_OF]])
    expect(await ownersOf([own], transfer(7n, [reference('cd')]), 1_000_000, { proof: by('ws-x') })).toEqual([
      [null, 7n, KEY_OF],
    ])
  })

  it('money of before is whose it was, however late it is scanned', async () => {
    expect(await ownersOf([own], transfer(5n), 999_999, { proof: by('ws-x') })).toEqual([['a', 5n, KEY_OF]])
  })

  it('invoices of the prover count, past one of another that asked for the exact amount', async () => {
    expect(await ownersOf([own], transfer(5n), 1_000_000, { proof: by('ws-a') })).toEqual([['a', 5n, KEY_OF]])
    expect(await ownersOf([exact, own], transfer(5n), 1_000_000, { proof: by('ws-a') })).toEqual([['a', 5n, KEY_OF]])
  })
})
