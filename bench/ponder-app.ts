/** Blocks on top of which Ponder takes a block of a chain that it does not know as final; it polls for those above. */
export const PONDER_FINALITY = 30

/** Exact versions: the one compared with, and what it asks for beside itself. */
export const PONDER_PACKAGES = ['ponder@0.16.6', 'viem@2.57.20', 'hono@4.13.19', 'typescript@5.9.3'] as const

/**
 * A Ponder app by its files: it indexes the transfers of one token, looks each recipient up among the watched addresses and
 * stores those that are ours, in Ponder's own store (PGlite). `/count` says how many it stored.
 */
export const PONDER_APP: Readonly<Record<string, string>> = {
  'package.json': '{ "private": true, "type": "module" }\n',
  'ponder.config.ts': `
import { createConfig } from 'ponder'

const inputs = [
  { name: 'from', type: 'address', indexed: true },
  { name: 'to', type: 'address', indexed: true },
  { name: 'value', type: 'uint256', indexed: false },
] as const

export default createConfig({
  chains: { local: { id: Number(process.env.BENCH_CHAIN_ID), rpc: process.env.BENCH_RPC_URL } },
  contracts: {
    Token: {
      abi: [{ type: 'event', name: 'Transfer', inputs }],
      chain: 'local',
      address: process.env.BENCH_TOKEN as \`0x\${string}\`,
      startBlock: 1,
      endBlock: Number(process.env.BENCH_END_BLOCK),
    },
  },
})
`,
  'ponder.schema.ts': `
import { onchainTable } from 'ponder'

export const payment = onchainTable('payment', (t) => ({
  id: t.text().primaryKey(),
  to: t.hex().notNull(),
  from: t.hex().notNull(),
  amount: t.bigint().notNull(),
  txHash: t.hex().notNull(),
  blockHash: t.hex().notNull(),
  height: t.bigint().notNull(),
}))
`,
  'src/index.ts': `
import { readFileSync } from 'node:fs'
import { ponder } from 'ponder:registry'
import { payment } from 'ponder:schema'

const watched = new Set(readFileSync(process.env.BENCH_KEYS!, 'utf8').split('\\n').map((key) => '0x' + key))

ponder.on('Token:Transfer', async ({ event, context }) => {
  const { from, to, value } = event.args
  if (!watched.has(to.toLowerCase()) || value === 0n) return
  const { hash: blockHash, number: height } = event.block
  await context.db
    .insert(payment)
    .values({ id: event.id, to, from, amount: value, txHash: event.transaction.hash, blockHash, height })
})
`,
  'src/api/index.ts': `
import { count } from 'ponder'
import { db } from 'ponder:api'
import schema from 'ponder:schema'
import { Hono } from 'hono'

const app = new Hono()
app.get('/count', async (c) => c.json((await db.select({ stored: count() }).from(schema.payment))[0]))

export default app
`,
}
