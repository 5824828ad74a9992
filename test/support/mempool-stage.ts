import { beforeAll, beforeEach } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { MempoolView, RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { scanMempool } from '#shared/usecases/scanning/scan-mempool.ts'
import type { ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import type { useStores } from '#test/support/stores.ts'

export const DROP_AFTER_MS = 60_000

export const POSITION = { mode: 'test', network: 'ethereum', epoch: 1 } as const

/** An open invoice, and a scanner that looks through the mempool that a test sets in `at.view`. */
export function useMempoolStage(stores: ReturnType<typeof useStores>) {
  const at = {} as { engine: Engine; invoice: Invoice; view: MempoolView; headHash: string; session: ScanSession }
  beforeAll(async () => {
    at.engine = await openEngine(stores)
  })

  beforeEach(async () => {
    await at.engine.publishRates()
    await at.engine.watchEverything()
    await at.engine.setCursor(10, at.engine.deps.clock.now())
    at.invoice = await at.engine.open({ asset: 'usdt_ethereum' })
    const cursor = await at.engine.deps.cursors.find('test', 'ethereum')
    if (cursor === null) throw new Error('no cursor')
    at.headHash = cursor.hash
    const client: Partial<ChainClient> = {
      head: async () => ({ height: 10, hash: at.headHash, finalizedHeight: null }),
      mempool: async () => at.view,
    }
    const source = {
      mode: 'test',
      network: 'ethereum',
      family: 'evm',
      client: client as ChainClient,
      createIndex: createWatchIndex,
      pollMs: 10,
      dropAfterMs: DROP_AFTER_MS,
      finalityDepth: 10,
      batchMax: 10,
      development: false,
    } as const
    const lease = { epoch: cursor.lease?.epoch ?? 0, isHeld: () => true, release: async () => {} }
    const deps = at.engine.deps as unknown as ScanSession['deps']
    at.session = { deps, source, lease, index: createWatchIndex(), missingSince: new Map(), cursor }
  })

  function transfer(txHash: string, spends: readonly string[], amountBase = 25_000_000n): RawTransfer {
    const { matchKey, address } = paymentMethodOf(at.invoice)
    return {
      key: `test:ethereum:${txHash}:0`,
      matchKey,
      toAddress: address,
      fromAddress: null,
      asset: 'usdt_ethereum',
      contract: null,
      amountBase,
      txHash,
      outputIndex: 0,
      spends,
    }
  }

  function see(transfers: readonly RawTransfer[], spent: readonly (readonly [string, string])[] = []): void {
    at.view = { transfers, txids: new Set(transfers.map(({ txHash }) => txHash)), spent: new Map(spent) }
  }

  async function look(): Promise<void> {
    await scanMempool(at.session)
    await advanceInvoice(at.engine.deps, at.invoice.terms.id)
  }

  const states = async () =>
    (await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)).map(({ txHash, state }) => `${txHash} ${state}`)

  const stored = async () => (await at.engine.deps.invoices.findById(at.invoice.terms.id))?.state

  return { at, transfer, see, look, states, stored }
}
