import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startSurfpoolNode } from '#dev/local-chain/surfpool-node.ts'
import { startTronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { dueInvoices } from '#shared/usecases/invoices/deadlines.ts'
import { chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { type NetworkScan, startNetworkScan } from '#test/support/network-scan.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const HOUR = 3_600_000

/** What a front says in place of its node; undefined for the truth. */
type Lie = (call: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }) => unknown

/** A front of a node that says otherwise where it is told to. */
async function startFront(url: string, lie: Lie): Promise<string> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const path = request.url ?? ''
      const said = lie({ path, body: JSON.parse(text) as Readonly<Record<string, unknown>> })
      if (said !== undefined) {
        response.end(typeof said === 'string' ? said : JSON.stringify(said))
        return
      }
      const headers = { 'content-type': 'application/json' }
      fetch(`${url}${path === '/' ? '' : path}`, { method: 'POST', body: text, headers })
        .then(async (answer) => response.end(await answer.text()))
        .catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A network, its node, and how that node stops giving blocks below a height. */
interface Chain {
  readonly network: 'tron' | 'solana'
  readonly asset: 'usdt_tron' | 'usdc_solana'
  readonly coin: 'trx_tron' | 'sol_solana'
  readonly url: string
  pay(asset: AssetId, to: string, amountBase: bigint): Promise<unknown>
  height(): Promise<number>
  /** Lets so many blocks come. */
  pass(blocks: number): Promise<void>
  dropBelow(height: number): void
}

async function startTron(words: 'nothing' | 'lite', solidLag = 2): Promise<Chain> {
  const node = await startTronNode({ blockTimeMs: null, solidLag })
  onTestFinished(() => node.stop())
  node.mine(3)
  const at = { keptFrom: 0 }
  const front = await startFront(node.url, ({ path, body }) => {
    const height = Number(body['num'] ?? body['startNum'] ?? Number.POSITIVE_INFINITY)
    if (height === 0 || height >= at.keptFrom || !/getblockby|infobyblocknum/.test(path)) return undefined
    if (words === 'lite') return 'this API is closed because this node is a lite fullnode'
    return path.includes('infobyblocknum') ? [] : {}
  })
  return {
    ...({ network: 'tron', asset: 'usdt_tron', coin: 'trx_tron', url: front } as const),
    pay: (asset, to, amountBase) => node.pay({ asset, to, amountBase }),
    height: async () => node.height(),
    pass: async (blocks) => node.mine(blocks),
    dropBelow(height) {
      at.keptFrom = height
    },
  }
}

async function startSolana(): Promise<Chain> {
  const node = await startSurfpoolNode({ slotTimeMs: 50 })
  onTestFinished(() => node.stop())
  const at = { keptFrom: 0 }
  const front = await startFront(node.url, ({ body }) => {
    const { method, params, id } = body as { method: string; params: readonly number[]; id: number }
    const slot = Number(params?.[0])
    if (slot === 0 || !(slot < at.keptFrom)) return undefined
    if (method === 'getBlock' || method === 'getBlockTime') {
      const message = `Block ${slot} cleaned up, does not exist on node. First available block: ${at.keptFrom}`
      return { jsonrpc: '2.0', id, error: { code: -32_001, message } }
    }
    return undefined
  })
  const height = async () => (await node.rpc('getSlot', [{ commitment: 'confirmed' }])) as number
  return {
    ...({ network: 'solana', asset: 'usdc_solana', coin: 'sol_solana', url: front } as const),
    pay: (asset, to, amountBase) => node.pay({ asset, to, amountBase }),
    height,
    async pass(blocks) {
      const until = (await height()) + blocks
      await vi.waitFor(async () => expect(await height()).toBeGreaterThanOrEqual(until), { timeout: 20_000 })
    },
    dropBelow(lowest) {
      at.keptFrom = lowest
    },
  }
}

let scan: NetworkScan | null = null
afterEach(async () => {
  await scan?.stop()
  scan = null
})

async function stageOf({ network, url }: Chain) {
  await emptyDatabase(stores.db)
  const networks = { [network]: { rpcUrls: [url], genesis: 'any' } }
  const engine = await openEngine(stores, networks)
  const begin = async () => {
    scan = await startNetworkScan(stores, engine, network, networks)
    return scan
  }
  return { engine, begin }
}

async function statusOf({ deps }: Engine, id: string) {
  for (const due of await dueInvoices(deps)) await advanceInvoice(deps, due)
  await advanceInvoice(deps, id)
  return (await deps.invoices.findById(id))?.state.status
}

describe.each([
  ['of TRON that answer nothing for them', () => startTron('nothing')],
  ['of a lite full node of TRON', () => startTron('lite')],
  ['of Solana behind its ledger limit', () => startSolana()],
])('blocks %s', (_name, start) => {
  // Guarantee: blocks that are gone for good end no network: who may have paid in them is named, new payments are credited, and nothing expires before a person has looked.
  it('are skipped by an audited request that names who paid in them', { timeout: 90_000 }, async () => {
    const chain = await start()
    const { engine, begin } = await stageOf(chain)
    const { deps } = engine
    const { network, asset, coin } = chain
    const first = await begin()
    const { patience } = first
    await vi.waitFor(async () => expect((await first.cursor()).height).toBeGreaterThan(1), patience)
    await engine.publishRates()
    // Addresses are offered once the scanner watches them.
    const open = () => vi.waitFor(() => engine.open({ asset }), patience)
    const [paid, inCoins, unpaid, after] = [await open(), await open(), await open(), await open()]
    const due = paymentMethodOf(paid).quotes[0]?.amountBase ?? 0n
    await first.stop()
    scan = null
    const before = (await deps.cursors.find('test', network))?.height ?? 0
    await chain.pay(asset, paymentMethodOf(paid).address, due)
    await chain.pay(coin, paymentMethodOf(inCoins).address, 5_000_000n)
    await chain.pass(100)
    const keptFrom = (await chain.height()) - 40
    chain.dropBelow(keptFrom)
    await begin()
    const state = async () => (await chainStatus(deps)).find((one) => one.network === network)
    await vi.waitFor(async () => expect((await state())?.trouble).not.toBeNull(), patience)

    const place = { mode: 'test', network, actor: 'cli:olivia', dryRun: false } as const
    const wanted = { ...place, kind: 'skip', from: null, to: null, acceptReorg: false, reason: 'dropped' } as const
    const { command } = await requestCommand(deps, wanted)
    await vi.waitFor(async () => {
      expect(await deps.commands.findById(command?.id ?? '')).toMatchObject({ status: 'done' })
    }, patience)
    const actions = (await deps.audits.listBySubject(`test:${network}`)).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['chain.skip', 'chain.skip_done']))
    const inbox = (await deps.exceptions.listOpen(null)).find(({ id }) => id.includes(':skipped:'))
    expect(inbox?.detail).toContain(`Blocks ${before + 1} to `)
    // By the balance of its address: no block shows the payment any more.
    for (const { terms } of [paid, inCoins]) expect(inbox?.detail).toContain(terms.id)
    expect(inbox?.detail).not.toContain(unpaid.terms.id)

    await chain.pay(asset, paymentMethodOf(after).address, due)
    await chain.pass(25)
    await vi.waitFor(async () => expect(await statusOf(engine, after.terms.id)).toBe('paid'), patience)
    engine.advance(HOUR)
    await chain.pass(2)
    await vi.waitFor(async () => {
      expect((await deps.cursors.find('test', network))?.atHeadAt).toBeGreaterThan(unpaid.state.expiresAt)
    }, patience)
    expect(await statusOf(engine, unpaid.terms.id)).toBe('pending')
    expect(await statusOf(engine, paid.terms.id)).toBe('pending')
    expect((await state())?.stuck).toMatchObject({ cause: 'blocks_skipped' })

    const request = { ...place, through: deps.clock.now(), reason: 'looked', opId: 'one' }
    expect(await releaseDeadlines(deps, request)).toMatchObject({ changed: true })
    await vi.waitFor(async () => expect(await statusOf(engine, unpaid.terms.id)).toBe('expired'), patience)
    expect((await state())?.stuck).toBeNull()
  })
})

// Guarantee: nodes that drop further blocks while the search of a skip waits for final ones end no network: the same request skips those too
// and then names who paid in them, or ends where a person named the last block to skip, and says which blocks are gone.
it.each([
  ['skips them with the same request', false],
  ['ends at the block that the request names', true],
])('blocks that are gone before skipped ones are final: %s', { timeout: 60_000 }, async (_name, isBounded) => {
  const chain = await startTron('nothing', 100)
  const { engine, begin } = await stageOf(chain)
  const { deps } = engine
  const { network, asset } = chain
  const first = await begin()
  const { patience } = first
  await vi.waitFor(async () => expect((await first.cursor()).height).toBeGreaterThan(1), patience)
  await engine.publishRates()
  const paid = await vi.waitFor(() => engine.open({ asset }), patience)
  const due = paymentMethodOf(paid).quotes[0]?.amountBase ?? 0n
  await first.stop()
  await chain.pass(80)
  const keptFrom = (await chain.height()) - 30
  chain.dropBelow(keptFrom)
  const second = await begin()
  await vi.waitFor(async () => expect((await second.cursor()).trouble).not.toBeNull(), patience)
  const place = { mode: 'test', network, actor: 'cli:olivia', dryRun: false, acceptReorg: false } as const
  const to = isBounded ? keptFrom - 1 : null
  const { command } = await requestCommand(deps, { ...place, kind: 'skip', from: null, to, reason: 'dropped' })
  const request = async () => await deps.commands.findById(command?.id ?? '')
  await vi.waitFor(async () => expect((await second.cursor()).height).toBe(await chain.height()), patience)
  expect(await request()).toMatchObject({ status: 'open' })

  await second.stop()
  await chain.pay(asset, paymentMethodOf(paid).address, due)
  const missed = (await second.cursor()).height + 1
  await chain.pass(60)
  chain.dropBelow((await chain.height()) - 30)
  const third = await begin()
  const through = (await chain.height()) - 31
  if (isBounded) {
    await vi.waitFor(async () => expect(await request()).toMatchObject({ status: 'done' }), patience)
    expect((await request())?.outcome).toContain(`No node has blocks ${missed} to ${through}.`)
    expect((await third.cursor()).height).toBe(missed - 1)
    return
  }
  await vi.waitFor(async () => expect((await third.cursor()).height).toBe(await chain.height()), patience)
  expect((await third.cursor()).skipped).toMatchObject({ to: through })
  expect(await request()).toMatchObject({ status: 'open' })
  await chain.pass(100)
  await vi.waitFor(async () => expect(await request()).toMatchObject({ status: 'done' }), patience)
  expect((await request())?.outcome).toContain(paid.terms.id)
})
