import { invoiceToDocument } from '#shared/db/invoices/invoice-mapping.ts'
import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { paymentToDocument } from '#shared/db/payments/payment-mapping.ts'
import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import type { AddressDocument } from '#shared/db/wallets/wallet-models.ts'
import type { InvoiceState, PaymentMethod } from '#shared/domain/invoice/model.ts'
import type { PaymentBlock } from '#shared/ports/payments.ts'
import { DAY_MS, eventTypesOf, type Facts, isOpen, isPaid, LINKED_EVERY, MATERIAL, MODE, NETWORK } from './facts.ts'

const QUOTE_MS = 1_200_000
const BLOCK_MS = 12_000
const ASSET = 'usdt_ethereum'
/** One invoice in so many changed so lately that the idempotency key of its creation still stands. */
const isKeyed = (facts: Facts, index: number): boolean => facts.createdAt(index) > facts.now - DAY_MS

/** An invoice as it is stored once everything about it is relayed. */
export function invoiceAt(facts: Facts, index: number): InvoiceDocument {
  const at = facts.createdAt(index)
  const { outboxAt: _outboxAt, ...document } = invoiceToDocument({
    terms: {
      ...{ id: facts.invoiceId(index), workspaceId: facts.workspaceOf(index), mode: MODE, number: index + 1 },
      ...{ description: 'Two coffees', orderId: `order-${index}`, metadata: { cart: `c-${index}` } },
      ...{ fiat: { minor: 2_500n, currency: 'USD' }, customer: { email: `payer${index}@example.com`, name: null } },
      ...{ successUrl: null, cancelUrl: null, productId: null, createdAt: at },
      paymentLinkId: index % LINKED_EVERY === 1 ? 'link-1' : null,
      source: index % LINKED_EVERY === 1 ? 'link' : 'api',
    },
    state: stateAt(facts, index),
    outbox: [],
    idempotency: isKeyed(facts, index)
      ? { key: `key-${index}`, fingerprint: 'f'.repeat(64), requestId: `req_${index}`, at }
      : null,
    opId: null,
  })
  return document
}

function stateAt(facts: Facts, index: number): InvoiceState {
  const at = facts.createdAt(index)
  const open = isOpen(facts, index)
  const paid = !open && isPaid(index)
  return {
    ...{ status: open ? 'pending' : paid ? 'paid' : 'expired', mode: MODE, createdAt: at, expiresAt: at + QUOTE_MS },
    ...{ endsWithQuote: false, paidAt: paid ? at + 60_000 : null, updatedAt: at + (open ? 0 : QUOTE_MS) },
    ...{
      version: open ? 1 : 3,
      eventSeq: eventTypesOf(facts, index).length,
      paymentMethods: [methodAt(facts, index)],
      others: null,
      exceptions: [],
    },
    ledger: paid
      ? [
          {
            ...{ payment: facts.paymentKey(index), version: 2, state: 'confirmed', amountBase: 25_000_000n },
            ...{ firstSeenAt: at + 30_000, counted: true, uncountedReason: null, acceptedBase: null, late: false },
            ...{
              rateSeen: null,
              eligible: true,
              simulated: false,
              detected: true,
              confirmed: true,
              lateAnnounced: false,
            },
          },
        ]
      : [],
    ...{ paidLate: false, underpaidAccepted: false, partialAnnouncedBase: 0n, confirmingSince: null },
    nextActionAt: open ? at + QUOTE_MS : null,
  }
}

function methodAt(facts: Facts, index: number): PaymentMethod {
  const at = facts.createdAt(index)
  const matchKey = facts.matchKey(index)
  return {
    ...{ asset: ASSET, network: NETWORK, family: 'evm', symbol: 'USDT', decimals: 6, address: `0x${matchKey}` },
    ...{ matchKey, claim: `${MODE}:evm:${matchKey}`, requiredConfirmations: 12, from: at, to: null },
    policy: {
      toleranceBase: 0n,
      unitBase: 10_000n,
      sendableBase: 10_000n,
      lateGraceMs: 3_600_000,
      lateDriftBps: 200,
      depositBps: 500,
      dustBase: 1n,
    },
    quotes: [
      {
        ...{ amountBase: 25_000_000n, amount: '25', fiatPerAsset: '1.0002', quotedAt: at, expiresAt: at + QUOTE_MS },
        provenance: { snapshotAt: at - 1_000, sources: ['kraken', 'coinbase'], fxSources: [], spreadBps: 0 },
      },
    ],
  }
}

/** The payment of a paid invoice; that of an open one was just seen and waits to be applied. */
export function paymentAt(facts: Facts, index: number): PaymentDocument {
  const at = facts.createdAt(index)
  const height = Math.floor(at / BLOCK_MS)
  const isFresh = isOpen(facts, index)
  const block: PaymentBlock = { height, hash: `0x${height.toString(16).padStart(64, '0')}`, time: at + 30_000 }
  return paymentToDocument({
    ...{ id: facts.paymentId(index), key: facts.paymentKey(index), mode: MODE, network: NETWORK, asset: ASSET },
    ...{ invoiceId: facts.invoiceId(index), workspaceId: facts.workspaceOf(index), matchKey: facts.matchKey(index) },
    ...{ toAddress: `0x${facts.matchKey(index)}`, fromAddress: `0x${'bb'.repeat(20)}`, amountBase: 25_000_000n },
    ...{ txHash: facts.paymentKey(index).split(':')[2] ?? null, outputIndex: 0, contract: `0x${'cc'.repeat(20)}` },
    ...{ kind: 'onchain', state: isFresh ? 'detected' : 'confirmed', block, requiredConfirmations: 12 },
    ...{ confirmAt: height + 12, needsFinality: false, spends: [], replacedBy: null },
    ...{
      confirmedAt: isFresh ? null : at + 60_000,
      bookedAt: isFresh ? [] : [at + 60_000],
      firstSeenAt: at + 30_000,
      version: 2,
      dirtyAt: isFresh ? at + 30_000 : null,
    },
    ...{ scanEpoch: 1, counted: true, uncountedReason: null, late: false, opId: null },
    ...{ createdAt: at + 30_000, updatedAt: at + 60_000 },
  })
}

/** The derived address that the invoice was paid at. */
export function addressAt(facts: Facts, index: number): AddressDocument {
  const matchKey = facts.matchKey(index)
  return {
    ...{ _id: `${MODE}:evm:${matchKey}`, mode: MODE, family: 'evm', matchKey, address: `0x${matchKey}` },
    ...{ materialId: MATERIAL, index, watchedOn: [NETWORK], watchedKey: NETWORK },
  }
}

/** The height at which a payment of this invoice stands. */
export const heightAt = (facts: Facts, index: number): number => Math.floor(facts.createdAt(index) / BLOCK_MS)
