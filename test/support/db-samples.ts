import type { InvoiceState, PaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { InvoiceSnapshot, NewInvoice, OutboxEntry } from '#shared/ports/invoices.ts'
import type { ObservedTransfer } from '#shared/ports/payments.ts'
import type { Random } from '#shared/ports/runtime.ts'

/** Complete, plausible records for repository tests; each test overrides only the fields it is about. */

const SNAPSHOT: InvoiceSnapshot = {
  status: 'pending',
  crypto: null,
  rate: null,
  received: { amount: '0', amount_base_units: '0', confirmed_base_units: '0' },
  flags: { paid_late: false, underpaid_accepted: false },
  expires_at: '2026-11-21T12:20:00.000Z',
  paid_at: null,
  updated_at: '2026-11-21T12:00:00.000Z',
}

/** An outbox entry of one invoice. */
export function sampleEntry(invoiceId: string, seq: number, at: number): OutboxEntry {
  return {
    eventId: `evt_${invoiceId.replaceAll('-', '')}_${seq.toString(36)}`,
    seq,
    kind: 'event',
    type: 'invoice.pending',
    at,
    snapshot: SNAPSHOT,
    payment: null,
    paymentKey: null,
  }
}

/** A USDT payment method on Ethereum at the address that `matchKey` names, with one quote of 100 USDT. */
export function samplePaymentMethod(
  matchKey: string,
  at: number,
  overrides: Partial<PaymentMethod> = {},
): PaymentMethod {
  return {
    asset: 'usdt_ethereum',
    network: 'ethereum',
    family: 'evm',
    symbol: 'USDT',
    decimals: 6,
    address: `0x${matchKey}`,
    matchKey,
    claim: `test:evm:${matchKey}`,
    requiredConfirmations: 3,
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
        amountBase: 100_000_000n,
        amount: '100',
        fiatPerAsset: '1.0002',
        quotedAt: at,
        expiresAt: at + 1_200_000,
        provenance: { snapshotAt: at - 1_000, sources: ['kraken', 'coinbase'], fxSources: [], spreadBps: 0 },
      },
    ],
    from: at,
    to: null,
    ...overrides,
  }
}

/** The state of a fresh invoice, `new` without payment methods and `pending` with one. */
export function sampleState(at: number, overrides: Partial<InvoiceState> = {}): InvoiceState {
  return {
    status: (overrides.paymentMethods?.length ?? 0) > 0 ? 'pending' : 'new',
    mode: 'test',
    createdAt: at,
    expiresAt: at + 1_200_000,
    endsWithQuote: false,
    paidAt: null,
    updatedAt: at,
    version: 1,
    eventSeq: 1,
    paymentMethods: [],
    ledger: [],
    others: null,
    exceptions: [],
    paidLate: false,
    underpaidAccepted: false,
    partialAnnouncedBase: 0n,
    confirmingSince: null,
    nextActionAt: at + 1_200_000,
    ...overrides,
  }
}

/** A whole new invoice as its creation inserts it. */
export function sampleInvoice(
  random: Random,
  overrides: {
    readonly workspaceId?: string
    readonly number?: number
    readonly at?: number
    readonly orderId?: string | null
    readonly idempotencyKey?: string
    readonly state?: Partial<InvoiceState>
    readonly opId?: string
  } = {},
): NewInvoice {
  const id = random.uuid()
  const at = overrides.at ?? Date.now()
  return {
    terms: {
      id,
      workspaceId: overrides.workspaceId ?? 'ws-1',
      mode: 'test',
      number: overrides.number ?? 1,
      description: 'Two coffees',
      orderId: overrides.orderId ?? null,
      metadata: { 'cart.id': 'c-1', $odd: 'v' },
      fiat: { minor: 10_000n, currency: 'USD' },
      customer: { email: 'payer@example.com', name: null },
      successUrl: null,
      cancelUrl: null,
      paymentLinkId: null,
      productId: null,
      source: 'api',
      createdAt: at,
    },
    state: sampleState(at, overrides.state),
    outbox: [sampleEntry(id, 1, at)],
    idempotency:
      overrides.idempotencyKey === undefined
        ? null
        : { key: overrides.idempotencyKey, fingerprint: 'f'.repeat(64), requestId: 'req_1', at },
    opId: overrides.opId ?? null,
  }
}

/** A transfer of 100 USDT seen in block 100. */
export function sampleObservation(key: string, overrides: Partial<ObservedTransfer> = {}): ObservedTransfer {
  return {
    key,
    mode: 'test',
    network: 'ethereum',
    asset: 'usdt_ethereum',
    invoiceId: 'invoice-1',
    workspaceId: 'ws-1',
    matchKey: 'aa',
    toAddress: '0xaa',
    fromAddress: '0xbb',
    amountBase: 100_000_000n,
    txHash: '0x01',
    outputIndex: 0,
    contract: '0xcc',
    block: { height: 100, hash: '0xblock100', time: 1_000 },
    requiredConfirmations: 3,
    needsFinality: false,
    spends: [],
    firstSeenAt: 1_000,
    uncountedReason: null,
    ...overrides,
  }
}

/** A delivery that waits for its first attempt. */
export function sampleDelivery(id: string, overrides: Partial<Delivery> = {}): Delivery {
  return {
    id,
    eventId: `evt_${id}`,
    eventType: 'invoice.created',
    endpointId: 'endpoint-1',
    workspaceId: 'ws-1',
    mode: 'test',
    generation: 0,
    status: 'pending',
    attempt: 0,
    dueAt: 0,
    leaseToken: null,
    claims: 0,
    createdAt: 1_000,
    finishedAt: null,
    lastError: null,
    lastStatusCode: null,
    ...overrides,
  }
}
