import { describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import type { InvoiceState, PaymentMethod } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { transition } from '#shared/domain/invoice/transition.ts'
import {
  aPayment,
  aPaymentMethod,
  aQuote,
  DEADLINE,
  MINUTE,
  T0,
} from '#shared/domain/invoice/transition-story.fixture.ts'
import { formatUnits, parseUnits } from '#shared/domain/money/money.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import { frozenBounds } from '#shared/usecases/quotes/prepare-quote.ts'
import { DEFAULT_POLICY } from '#shared/usecases/workspaces/create-workspace.ts'
import { paymentRequest, snapshotInvoice } from './present-invoice.ts'

const catalog = createCatalog({ live: {}, test: {} })

function methodOf(info: AssetInfo, amountBase: bigint): PaymentMethod {
  return aPaymentMethod({
    ...{ asset: info.id, network: info.network, family: info.family, decimals: info.decimals, address: 'ADDRESS' },
    policy: frozenBounds(DEFAULT_POLICY, info, amountBase, null),
    quotes: [aQuote({ amountBase })],
  })
}

/** The invoice of a payment method after one confirmed payment. */
function stateAfter(paymentMethod: PaymentMethod, paidBase: bigint): InvoiceState {
  const open = { mode: 'live', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: true, paymentMethod } as const
  const { state } = openInvoice(open)
  if (paidBase === 0n) return state
  const { asset, network } = paymentMethod
  const payment = aPayment({ asset, network, amountBase: paidBase, state: 'confirmed' })
  const result = transition(state, { observations: [payment], event: { type: 'payments_changed' }, at: T0 + MINUTE })
  if (result.outcome === 'refused') throw new Error(result.reason)
  return result.state
}

/** The amount that a wallet reads from a link, in base units. */
function amountIn(uri: string, decimals: number): bigint {
  const text = /[?&](?:value|uint256)=(\d+)/.exec(uri)?.[1]
  return text === undefined ? parseUnits(/amount=([0-9.]+)/.exec(uri)?.[1] ?? '', decimals) : BigInt(text)
}

// Guarantee: a payer who tops up with the merchant's own code never sends the whole amount again.
describe('the link that the API, webhooks and pages show', () => {
  it.each(ASSET_IDS)('asks for what is left of %s, and for nothing when nothing is', (asset) => {
    const info = catalog.asset(asset)
    const wholeBase = info.minBase * 1_000n
    const paymentMethod = methodOf(info, wholeBase)
    for (const paidBase of [0n, wholeBase / 3n, wholeBase - info.dustBase - 1n]) {
      const state = stateAfter(paymentMethod, paidBase)
      const { amountBase, uri } = paymentRequest(catalog, state, state.updatedAt)
      const { crypto } = snapshotInvoice(catalog, state)
      expect(crypto).toMatchObject({ uri, amount: formatUnits(wholeBase, info.decimals) })
      expect(amountBase).toBeGreaterThanOrEqual(wholeBase - paidBase)
      expect(amountBase).toBeLessThanOrEqual(wholeBase - paidBase + info.dustBase)
      if (CHAINS[info.network].uriScheme === null) expect(uri).toBe('ADDRESS')
      else expect(amountIn(uri, info.decimals)).toBe(amountBase)
    }
    const paid = stateAfter(paymentMethod, wholeBase - 1n)
    expect(paid).toMatchObject({ status: 'paid', underpaidAccepted: true, exceptions: [] })
    for (const event of [{ type: 'deadline_reached' }, { type: 'cancel_requested' }] as const) {
      const ended = transition(stateAfter(paymentMethod, 0n), { observations: [], event, at: DEADLINE })
      if (ended.outcome !== 'changed') throw new Error(ended.outcome)
      expect(snapshotInvoice(catalog, ended.state).crypto?.uri).toBe('')
    }
    for (const state of [paid, stateAfter(paymentMethod, wholeBase), stateAfter(paymentMethod, wholeBase * 2n)])
      expect(snapshotInvoice(catalog, state).crypto?.uri).toBe('')
  })
})
