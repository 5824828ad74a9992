import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { dueInvoices } from '#shared/usecases/invoices/deadlines.ts'
import { chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { type LitecoinScan, startLitecoinScan } from '#test/support/litecoin-scan.ts'
import { type RpcAnswer, startLyingNode } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'

const DUE = 25_000_000n
const gone = new Set<string>()
const HOUR = 3_600_000
const stores = useStores()
let node: LitecoinNode
let front: Awaited<ReturnType<typeof startLyingNode>>
let engine: Engine
let scan: LitecoinScan
let networks: { readonly litecoin: { readonly rpcUrls: readonly string[]; readonly genesis: string } }

beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })
  // litecoind 0.21 prunes files of 128 MB and has no smaller ones for tests: this front refuses their blocks in its words.
  front = await startLyingNode(node.url, ({ method, params: [hash] }, truth): RpcAnswer => {
    if (method === 'getconnectioncount') return { result: 1 }
    if (method !== 'getblock' || !gone.has(String(hash))) return truth
    return { error: { code: -1, message: 'Block not available (pruned data)' } }
  })
  const genesis = (await node.rpc('getblockhash', [0])) as string
  networks = { litecoin: { rpcUrls: [front.url], genesis } }
  engine = await openEngine(stores, networks)
  scan = await startLitecoinScan(stores, engine, networks)
})
afterAll(async () => {
  await scan?.stop()
  await front?.close()
  await node?.stop()
})

const status = async (id: string) => {
  for (const due of await dueInvoices(engine.deps)) await advanceInvoice(engine.deps, due)
  await advanceInvoice(engine.deps, id)
  return (await engine.deps.invoices.findById(id))?.state.status
}
const skip = async () => {
  const input = { mode: 'test', network: 'litecoin', kind: 'skip', from: null, to: null, acceptReorg: false } as const
  const answer = await requestCommand(engine.deps, { ...input, dryRun: false, actor: 'cli:olivia', reason: 'pruned' })
  const id = answer.command?.id ?? ''
  const end = async () => {
    const command = await engine.deps.commands.findById(id)
    expect(command?.status).not.toBe('open')
    return command
  }
  return vi.waitFor(end, scan.patience)
}
const stateOfChain = async () => (await chainStatus(engine.deps)).find(({ network }) => network === 'litecoin')

// Guarantee: blocks that are pruned for good end no network: what they paid and is unspent is credited, and nothing expires before a person has looked.
it('goes on behind pruned blocks by an audited request, and credits what is unspent', async () => {
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeDefined(), scan.patience)
  await engine.publishRates()
  const [paid, unpaid, after] = [
    await engine.open({ asset: 'ltc_litecoin' }),
    await engine.open({ asset: 'ltc_litecoin' }),
    await engine.open({ asset: 'ltc_litecoin' }),
  ]
  await scan.stop()
  const before = (await engine.deps.cursors.find('test', 'litecoin'))?.height ?? 0
  await node.pay([{ to: paymentMethodOf(paid).address, amountBase: DUE }])
  await node.mine(60)
  const pruned = before + 40
  for (let height = 0; height < pruned; height += 1) gone.add(String(await node.rpc('getblockhash', [height])))

  scan = await startLitecoinScan(stores, engine, networks)
  const named = async () => expect((await stateOfChain())?.trouble).toMatchObject({ height: before + 1 })
  await vi.waitFor(named, scan.patience)
  expect((await stateOfChain())?.trouble?.reason).toContain('pruned data')

  expect(await skip()).toMatchObject({ status: 'done', outcome: expect.stringMatching(/1 payments in them .* stored/) })
  await vi.waitFor(async () => expect(await status(paid.terms.id)).toBe('paid'), scan.patience)
  const [payment] = await engine.deps.payments.listByInvoice(paid.terms.id)
  expect(payment).toMatchObject({ late: false, block: { height: before + 1 } })
  expect(await engine.deps.audits.listBySubject('test:litecoin')).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ action: 'chain.skip', actor: 'cli:olivia' }),
      expect.objectContaining({ action: 'chain.skip_done' }),
    ]),
  )
  const inbox = await engine.deps.exceptions.listOpen(null)
  expect(JSON.stringify(inbox)).toContain(`Blocks ${before + 1} to ${pruned - 1} were skipped`)

  // New payments are credited at once; deadlines wait for a person.
  await node.pay([{ to: paymentMethodOf(after).address, amountBase: DUE }])
  await node.mine(7)
  await vi.waitFor(async () => expect(await status(after.terms.id)).toBe('paid'), scan.patience)
  engine.advance(HOUR)
  // The newest block is as young as the clock says, so that the node counts as current.
  await vi.waitFor(async () => {
    await node.rpc('setmocktime', [Math.floor(engine.deps.clock.now() / 1_000)])
    await node.mine(1)
    expect((await scan.cursor()).mempoolAt).toBeGreaterThan(unpaid.state.expiresAt)
  }, scan.patience)
  expect(await status(unpaid.terms.id)).toBe('pending')
  expect((await stateOfChain())?.stuck).toMatchObject({
    cause: 'blocks_skipped',
    sentence: expect.stringContaining(`Blocks ${before + 1} to ${pruned - 1}`),
    advice: expect.stringContaining('release-deadlines'),
  })
  const request = { mode: 'test', network: 'litecoin', actor: 'cli:olivia', reason: 'looked', dryRun: false } as const
  const through = engine.deps.clock.now()
  expect(await releaseDeadlines(engine.deps, { ...request, through, opId: 'one' })).toMatchObject({ changed: true })
  expect(await releaseDeadlines(engine.deps, { ...request, through, opId: 'one' })).toMatchObject({ changed: false })
  await vi.waitFor(async () => expect(await status(unpaid.terms.id)).toBe('expired'), scan.patience)
  expect((await stateOfChain())?.stuck).toBeNull()
}, 90_000)
