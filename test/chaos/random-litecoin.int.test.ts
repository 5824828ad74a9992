import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { it } from 'vitest'
import { startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import type { ChaosChain } from './chaos-chain.ts'
import { useChaosStage } from './chaos-stage.ts'
import { SEQUENCES_TIMEOUT_MS, sequence, sequenceSettings } from './sequences.ts'

const stores = useStores()
const scratch = useStores()
const stage = useChaosStage(stores, scratch, openChain)
const stranger = () => `0014${randomBytes(20).toString('hex')}`

async function openChain(): Promise<ChaosChain> {
  const node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })

  /** Replaces an unconfirmed transaction that no other one spends: by one to the same scripts, or to a stranger. */
  async function replace(pays: 'same' | 'other'): Promise<void> {
    const entries = (await node.rpc('getrawmempool', [true])) as Record<string, { descendantcount: number }>
    const [txid] = Object.entries(entries).find(([, { descendantcount }]) => descendantcount === 1) ?? []
    if (txid === undefined) return
    const outputs = pays === 'same' ? await paidBy(txid) : [{ to: stranger(), amountBase: 1_000_000n }]
    // A node that does not take it, because it pays too little more or too much, keeps the first one.
    await node.replace(txid, outputs).catch(() => {})
  }

  /** Outputs of a transaction but its change. */
  async function paidBy(txid: string): Promise<{ to: string; amountBase: bigint }[]> {
    const { vout } = (await node.rpc('getrawtransaction', [txid, true])) as {
      readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly hex: string } }[]
    }
    const outputs = vout.map(({ value, scriptPubKey: { hex } }) => ({
      to: hex,
      amountBase: BigInt(value.toFixed(8).replace('.', '')),
    }))
    const least = outputs.toSorted((a, b) => Number(a.amountBase - b.amountBase))
    return least.slice(0, Math.max(1, least.length - 1))
  }

  return {
    url: node.url,
    network: 'litecoin',
    family: 'litecoin',
    assets: ['ltc_litecoin'],
    async prepare() {},
    async pay(to, amountBase) {
      await node.pay(to.map(({ matchKey }) => ({ to: matchKey, amountBase })))
    },
    async mine(blocks) {
      await node.mine(blocks)
    },
    async reorg(depth, keep) {
      await node.invalidate(depth)
      // A transaction of a block that is gone may be replaced before it is mined again.
      if (keep % 3 === 0) await replace('other')
      await node.mine(depth + 1, stranger())
    },
    replace,
    holdings: async () => null,
    stop: () => node.stop(),
  }
}

// Guarantee: whatever chain, mempool, node and scanner do, stored money is what a scan from scratch finds, and invoices add up to it.
it(
  'random payments, replacements, reorganisations, restarts, kills and node faults on litecoind end where a scan from scratch ends',
  { timeout: SEQUENCES_TIMEOUT_MS },
  () =>
    fc.assert(
      fc.asyncProperty(sequence, (actions) => stage.run(actions)),
      sequenceSettings(0.4, EVERY_CASE ? 4 : 1),
    ),
)
