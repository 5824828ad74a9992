import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { vi } from 'vitest'
import type { CheckoutStage } from '#services/checkout/checkout.fixture.ts'
import type { useVisitors } from '#services/checkout/visitors.fixture.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { usesOfOne } from '#shared/usecases/payment-links/pay-link.ts'
import { sourceShare, visitorShare } from '#shared/usecases/quotes/visitor-budget.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import type { Probe, Sources } from './scarce-probe.ts'

/** A checkout with its payers, on stores of a test file. */
export interface PayerWorld {
  readonly stage: CheckoutStage
  readonly visitors: ReturnType<typeof useVisitors>
  /** Without the limits of requests, so that the budget behind them refuses. */
  readonly withoutBuckets: () => void
}

const SOURCE: Sources<string> = { one: '203.0.113.66', other: '203.0.113.67' }
const XPUB = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'").neuter().extendedKey
const USES = 20

/** Each thing that payers share, taken as one connection or another over HTTP. */
export const PAYER_PROBES = {
  linkUses: async ({ stage, withoutBuckets }) => {
    withoutBuckets()
    const link = await stage.link({ kind: 'fixed', minor: 700n }, USES)
    return { budget: usesOfOne(USES), take: async (who) => await makesInvoice(stage, link, who) }
  },
  linkPlan: async ({ stage, withoutBuckets }) => {
    withoutBuckets()
    const { engine } = stage
    const limits = { invoicesPerMonth: 40, paymentLinks: null, webhookEndpoints: null }
    await engine.deps.workspaces.update(engine.workspace.id, { limits })
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const budget = sourceShare(visitorShare(limits.invoicesPerMonth, engine.workspace.policy))
    return { budget, take: async (who) => await makesInvoice(stage, link, who) }
  },
  poolAddresses: async ({ stage, visitors, withoutBuckets }) => {
    withoutBuckets()
    await visitors.addPool(30)
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const budget = sourceShare(visitorShare(30, stage.engine.workspace.policy))
    return { budget, take: async (who) => await getsAddress({ stage, visitors }, link, who) }
  },
  keyAddresses: async ({ stage, visitors, withoutBuckets }) => {
    withoutBuckets()
    const { engine } = stage
    const about = {
      workspaceId: engine.workspace.id,
      mode: 'test',
      family: 'evm',
      kind: 'xpub',
      startIndex: 0,
    } as const
    await addWallet({ ...engine.deps, ...engine }, { ...about, value: XPUB })
    // Noon: the day does not end while the test runs.
    const DAY = 86_400_000
    engine.advance(DAY + DAY / 2 - (engine.deps.clock.now() % DAY))
    await engine.publishRates()
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const stock = stockOf(stage)
    return {
      budget: SCARCE.keyAddresses.budget.perDay,
      take: async (who) => {
        await stock()
        const isGiven = await getsAddress({ stage, visitors }, link, who)
        await cancelPending(stage)
        return isGiven
      },
    }
  },
  openWatches: async ({ stage, visitors, withoutBuckets }) => {
    withoutBuckets()
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    const stock = stockOf(stage)
    const { total, part } = SCARCE.openWatches.budget
    return {
      budget: total / part,
      take: async (who) => {
        await stock()
        return await getsAddress({ stage, visitors }, link, who)
      },
    }
  },
  uniqueAmounts: async ({ stage }) => {
    const { deps, workspace } = stage.engine
    const policy = { ...workspace.policy, reservePercent: SCARCE.uniqueAmounts.budget.reservePercentMax }
    const material = {
      id: 'test:evm:address:aa',
      mode: 'test',
      family: 'evm',
      kind: 'address',
      sandbox: false,
    } as const
    let number = 0
    return {
      budget: sourceShare(visitorShare(9_999, policy)),
      take: async (who) => {
        const visitor = { source: SOURCE[who] }
        const takes = { material, workspace: { id: workspace.id, policy }, visitor, claims: true, network: null }
        const places = await stage.deps.budget.draw(takes).catch(() => null)
        if (places === null) return false
        number += 1
        const visit = { places: places.claim, repeats: 0, quotesUntil: null }
        const { inserted } = await deps.invoices.insert(sampleInvoice(deps.random, { number, state: { visit } }))
        places.end()
        return inserted
      },
    }
  },
  checkoutReads: async (world) => {
    const take = async (who: keyof Sources<string>) =>
      await isServed(world.stage.get(`/api/l/${randomUUID()}`, { 'X-Forwarded-For': SOURCE[who] }))
    return { budget: SCARCE.checkoutReads.budget.capacity, take }
  },
  checkoutPosts: async (world) => posts(world, 'checkoutPosts', 'price', { wrong: true }),
  coinChoices: async ({ stage }) => {
    const stock = stockOf(stage)
    return {
      budget: SCARCE.coinChoices.budget.capacity,
      take: async (who) => {
        await stock()
        const { id } = (await stage.engine.open()).terms
        const body = { asset: 'usdt_ethereum', actionId: randomUUID() }
        return await isServed(stage.post(`/api/i/${id}/asset`, body, SOURCE[who]))
      },
    }
  },
  linkInvoices: async ({ stage }) => {
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    return { budget: SCARCE.linkInvoices.budget.capacity, take: async (who) => await makesInvoice(stage, link, who) }
  },
  paymentHints: async (world) => posts(world, 'paymentHints', 'hint', { txHash: 'ab'.repeat(32) }),
  walletPayments: async (world) => posts(world, 'walletPayments', 'wallet', { account: 'x' }),
  signedPayments: async (world) =>
    posts(world, 'signedPayments', 'signed', { account: 'x', prepared: 'x', signature: 'ab'.repeat(65) }),
  paidQuestions: async (world) => posts(world, 'paidQuestions', 'question', { txHash: 'ab'.repeat(32) }),
  openQuestions: async ({ stage, withoutBuckets }) => {
    withoutBuckets()
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    let begun = 0
    let release = (): void => undefined
    const { findById } = stage.deps.invoices
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = async (id: string) => {
      begun += 1
      await released
      return await findById(id)
    }
    Object.assign(stage.deps.invoices, { findById: slow })
    const path = `/api/i/${invoice.terms.id}/question`
    return {
      budget: SCARCE.openQuestions.budget.perOwner,
      take: async (who) => {
        const before = begun
        const answered = stage.post(path, { txHash: `0x${'ab'.repeat(32)}` }, SOURCE[who])
        const began = vi.waitFor(() => {
          if (begun === before) throw new Error('not asked yet')
        }, 20_000)
        return await Promise.race([began.then(() => true), isServed(answered)])
      },
      end: async () => release(),
    }
  },
  checkoutStreams: async ({ stage }) => {
    const { id } = (await stage.engine.open()).terms
    const cut = new AbortController()
    return {
      budget: SCARCE.checkoutStreams.budget.perOwner,
      take: async (who) => {
        const headers = { 'X-Forwarded-For': SOURCE[who] }
        const response = await fetch(`${stage.url}/api/i/${id}/live`, { headers, signal: cut.signal })
        return response.status === 200
      },
      end: async () => cut.abort(),
    }
  },
} as const satisfies Readonly<Record<string, (world: PayerWorld) => Promise<Probe>>>

type Bucket = 'checkoutPosts' | 'paymentHints' | 'walletPayments' | 'signedPayments' | 'paidQuestions'

/** Posts about an unknown invoice: each costs a token before it is looked up. */
function posts({ stage }: PayerWorld, thing: Bucket, route: string, body: object): Probe {
  return {
    budget: SCARCE[thing].budget.capacity,
    take: async (who) => await isServed(stage.post(`/api/i/${randomUUID()}/${route}`, body, SOURCE[who])),
  }
}

/** Sees to it that an address is there for each call: 24 are derived ahead, and every eighth call derives more. */
function stockOf({ engine }: CheckoutStage): () => Promise<void> {
  let calls = 0
  return async () => {
    if (calls % 8 === 0) await engine.watchEverything()
    calls += 1
  }
}

/** Ends what is pending, so that no network watches for it; what was taken of a key stays taken. */
async function cancelPending({ engine: { deps, workspace } }: CheckoutStage): Promise<void> {
  const everywhere = { beforeId: null, orderId: null, createdAfter: null, createdBefore: null }
  const of = { workspaceId: workspace.id, mode: 'test', status: 'pending', limit: 10 } as const
  for (const { terms } of await deps.invoices.list({ ...of, ...everywhere }))
    await applyInvoiceEvent(deps, { invoiceId: terms.id, event: { type: 'cancel_requested' }, opId: null })
}

async function isServed(answer: Promise<{ readonly status: number }>): Promise<boolean> {
  return (await answer).status !== 429
}

async function makesInvoice(stage: CheckoutStage, link: string, who: keyof Sources<string>): Promise<boolean> {
  return (await stage.post(`/api/l/${link}/invoice`, { actionId: randomUUID() }, SOURCE[who])).status === 200
}

async function getsAddress(
  { visitors }: Pick<PayerWorld, 'stage' | 'visitors'>,
  link: string,
  who: keyof Sources<string>,
): Promise<boolean> {
  const [id = ''] = await visitors.linkInvoices(1, link)
  return (await visitors.choose(id, 'usdt_ethereum', SOURCE[who])).status === 200
}
