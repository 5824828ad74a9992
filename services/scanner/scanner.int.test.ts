import { Interface, Wallet as Signer } from 'ethers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LocalChain, startLocalChain } from '#scripts/local-chain/start-local-chain.ts'
import { createAddressBook } from '#shared/chains/address-book.ts'
import { ASSETS } from '#shared/chains/assets.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { SANDBOX_KEYS } from '#shared/chains/sandbox-keys.ts'
import { createWatchIndex } from '#shared/chains/watch-index.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { migrate } from '#shared/db/migrate.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { type ChainClient, NodeUnreliable } from '#shared/usecases/ports/scanning.ts'
import { recordBlockTransfers } from '#shared/usecases/record-payments.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scan-chain.ts'
import type { ScanDeps, ScanSession, ScanSource } from '#shared/usecases/scan-session.ts'
import { scanTick } from '#shared/usecases/scan-tick.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
/** Account 1 of anvil's public phrase. */
const PAYER = new Signer('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const erc20 = new Interface(['function transfer(address,uint256)', 'function mint(address,uint256)'])
const USDT = ASSETS.usdt_ethereum.contract
const [ours] = createAddressBook().derive('evm', 'test', SANDBOX_KEYS.evm, 0, 1)
const OURS = ours?.address ?? ''
const CONFIRMATIONS = 3

let chain: LocalChain
let deps: ScanDeps
const running: { stop(): Promise<void> }[] = []
const clients: { close(): Promise<void> }[] = []

beforeEach(async () => {
  await stores.db.connection.dropDatabase()
  await migrate(stores.db)
  chain = await startLocalChain({ blockTimeMs: null })
  await chain.mine()
  const wallets = createWalletRepository(stores.db)
  deps = {
    ...stores.ambient,
    kicker: { kick: () => {} },
    catalog: createCatalog({ live: {}, test: { ethereum: { rpcUrls: [chain.url], confirmations: CONFIRMATIONS } } }),
    cursors: createCursorRepository(stores.db),
    exceptions: createExceptionRepository(stores.db),
    invoices: createInvoiceRepository(stores.db),
    payments: createPaymentRepository(stores.db, stores.ambient.random),
    wallets,
  }
  const material = await wallets.upsertMaterial({
    id: 'test:evm:scanner',
    mode: 'test',
    family: 'evm',
    kind: 'xpub',
    fingerprint: 'scanner',
    sealed: '',
    sandbox: true,
    nextIndex: 0,
    derivedCount: 0,
    returned: [],
    createdAt: 0,
  })
  const row = { mode: 'test', family: 'evm', materialId: material.id, watchedOn: [] } as const
  await wallets.addDerived(material.id, ours === undefined ? [] : [{ ...ours, ...row }], 1)
})
afterEach(async () => {
  for (const part of running.splice(0)) await part.stop()
  for (const client of clients.splice(0)) await client.close()
  await chain.stop()
})

function source(change: Partial<ScanSource> = {}, chainId = 31_337): ScanSource {
  const client = createChainClient(
    { live: {}, test: { ethereum: { rpcUrls: [chain.url], chainId } } },
    'test',
    'ethereum',
    stores.ambient.metrics,
  )
  if (client === null) throw new Error('no client')
  clients.push(client)
  return {
    mode: 'test',
    network: 'ethereum',
    family: 'evm',
    client,
    createIndex: createWatchIndex,
    pollMs: 20,
    finalityDepth: 65,
    batchMax: 50,
    development: true,
    ...change,
  }
}

function scan(change: Partial<ScanSource> = {}): ChainScanner {
  const scanner = startChainScanner(deps, source(change))
  running.push(scanner)
  return scanner
}

/** All payments on the network, oldest first. */
const payments = async () =>
  (await stores.db.connection.collection('payments').find().sort({ _id: 1 }).toArray()).map((row) => ({
    key: String(row['key']),
    state: String(row['state']),
    height: row['block']?.height as number | undefined,
    amount: String(row['amountBase']),
    txHash: String(row['txHash']),
  }))
const cursor = () => deps.cursors.find('test', 'ethereum')
const untilHeight = (height: number) =>
  vi.waitFor(async () => expect((await cursor())?.height).toBeGreaterThanOrEqual(height), {
    timeout: 8_000,
    interval: 20,
  })
const untilPayments = (expected: readonly object[]) =>
  vi.waitFor(async () => expect(await payments()).toMatchObject(expected), { timeout: 8_000, interval: 20 })
const height = async () => Number(await chain.rpc('eth_blockNumber'))

/** A signed transfer of test tokens, so that the very same transaction can be mined again elsewhere. */
async function signedTransfer(amountBase: bigint): Promise<string> {
  const mint = erc20.encodeFunctionData('mint', [PAYER.address, amountBase])
  await chain.rpc('eth_sendTransaction', [{ from: PAYER.address, to: USDT, data: mint, gas: '0x30d40' }])
  await chain.mine()
  return PAYER.signTransaction({
    chainId: 31_337,
    nonce: Number(await chain.rpc('eth_getTransactionCount', [PAYER.address, 'latest'])),
    to: USDT,
    data: erc20.encodeFunctionData('transfer', [OURS, amountBase]),
    gasLimit: 200_000,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1n,
    type: 2,
  })
}

describe('a scanner', () => {
  it('marks addresses as watched, detects a transfer and confirms it when it is buried', async () => {
    scan()
    await vi.waitFor(async () => {
      const [address] = await deps.wallets.findAddresses('test', 'evm', [ours?.matchKey ?? ''])
      expect(address?.watchedOn).toEqual(['ethereum'])
    })
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 1_500_000n })
    await chain.pay({ asset: 'eth_ethereum', to: OURS, amountBase: 9n })
    await chain.mine()
    const mined = await height()
    const both = (state: string) => [
      { state, height: mined },
      { state, height: mined },
    ]
    await untilPayments(both('detected'))
    await chain.mine(CONFIRMATIONS - 2)
    await untilHeight(mined + CONFIRMATIONS - 2)
    expect(await payments()).toMatchObject(both('detected'))
    await chain.mine()
    await untilPayments(both('confirmed'))
    expect((await payments()).map(({ amount }) => amount).sort()).toEqual(['1500000', '9'])
  })

  // Guarantee: a transfer that is no longer on the chain does not stay credited.
  it('takes back a transfer that a reorganisation drops', async () => {
    scan()
    await untilHeight(1)
    await chain.mine()
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 5n })
    await chain.mine(2)
    await untilPayments([{ state: 'detected' }])
    await untilHeight(await height())
    await chain.reorg(3)
    await untilPayments([{ state: 'orphaned' }])
    await chain.mine(5)
    await untilHeight(await height())
    expect(await payments()).toMatchObject([{ state: 'orphaned' }])
  })

  // Guarantee: one transfer is one payment, wherever it is mined.
  it('knows a transfer again that is mined at another height after a reorganisation', async () => {
    const raw = await signedTransfer(77n)
    scan()
    await untilHeight(await height())
    await chain.rpc('eth_sendRawTransaction', [raw])
    await chain.mine(2)
    const first = (await height()) - 1
    await untilPayments([{ state: 'detected', height: first }])
    const [before] = await payments()
    await untilHeight(await height())
    await chain.reorg(2, [[raw, 1]])
    await untilPayments([{ ...before, height: first + 1 }])
    await chain.mine(CONFIRMATIONS)
    await untilPayments([{ ...before, state: 'confirmed', height: first + 1 }])
  })

  it('keeps its cursor before a block that the node fails on, and goes on when it is mended', async () => {
    const honest = source()
    let broken = 4
    let refused = 0
    const client: ChainClient = {
      ...honest.client,
      scan: async (from, to, watches) => {
        if (from <= broken && to >= broken) {
          refused += 1
          throw new NodeUnreliable('no answer')
        }
        return honest.client.scan(from, to, watches)
      },
    }
    scan({ client, batchMax: 1 })
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 5n })
    await chain.mine(6)
    await untilHeight(3)
    await vi.waitFor(() => expect(refused).toBeGreaterThan(1), { timeout: 5_000 })
    expect((await cursor())?.height).toBe(3)
    broken = -1
    await untilHeight(await height())
    expect(await payments()).toHaveLength(1)
  })

  it('starts a replaced development chain from its first block and takes back what was unconfirmed', async () => {
    const scanner = scan()
    await chain.mine(2)
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 5n })
    await chain.mine()
    await untilPayments([{ state: 'detected' }])
    await scanner.stop()
    await chain.stop()
    chain = await startLocalChain({ blockTimeMs: null })
    await chain.mine()
    scan()
    await untilPayments([{ state: 'orphaned' }])
    await vi.waitFor(async () => expect((await cursor())?.height).toBe(1))
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 6n })
    await chain.mine()
    await untilPayments([{ state: 'orphaned' }, { state: 'detected', amount: '6' }])
  })

  // Guarantee: a fork deeper than finality changes no payment by itself.
  it('halts on a fork below everything it remembers, and resumes when the node is back on its chain', async () => {
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 5n })
    const honest = source()
    let forked = false
    const other = `0x${'f'.repeat(64)}`
    const client: ChainClient = {
      ...honest.client,
      head: async () => {
        const head = await honest.client.head()
        return forked ? { ...head, hash: other } : head
      },
      blockAt: async (at) => {
        const block = await honest.client.blockAt(at)
        return forked && block !== null ? { ...block, hash: other } : block
      },
    }
    scan({ client, development: false })
    await untilHeight(1)
    await chain.mine()
    await untilPayments([{ state: 'detected' }])
    await untilHeight(2)
    forked = true
    await vi.waitFor(async () => expect((await cursor())?.status).toBe('halted'))
    const inbox = stores.db.connection.collection('exceptions')
    expect(await inbox.countDocuments({ kind: 'halted_chain', closedAt: null })).toBe(1)
    expect(await payments()).toMatchObject([{ state: 'detected' }])
    forked = false
    await chain.mine()
    await untilHeight(3)
    expect(await inbox.countDocuments({ kind: 'halted_chain', closedAt: null })).toBe(0)
  })

  it('does not begin on a node of another chain', async () => {
    const wrong = source({}, 1)
    const verify = vi.fn(wrong.client.verify)
    running.push(startChainScanner(deps, { ...wrong, client: { ...wrong.client, verify } }))
    await vi.waitFor(() => expect(verify.mock.settledResults).toHaveLength(1))
    expect(verify.mock.settledResults[0]).toMatchObject({ type: 'rejected', value: { name: 'NodeMismatch' } })
    expect(await cursor()).toBeNull()
  })
})

describe('two scanners', () => {
  it('take turns: one writes, the other stands by and takes over', async () => {
    const first = scan()
    await untilHeight(1)
    scan()
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 5n })
    await chain.mine(2)
    await untilPayments([{ state: 'detected' }])
    const holder = (await cursor())?.lease
    await first.stop()
    await vi.waitFor(async () => expect((await cursor())?.lease?.owner ?? holder?.owner).not.toBe(holder?.owner), {
      timeout: 8_000,
    })
    expect((await cursor())?.lease?.epoch).toBeGreaterThan(holder?.epoch ?? Number.POSITIVE_INFINITY)
    await chain.mine(CONFIRMATIONS)
    await untilPayments([{ state: 'confirmed' }])
  })

  // Guarantee: a scanner that slept through the loss of its lease cannot move money or the cursor.
  it('leave nothing to one that slept and still believes to hold the lease', async () => {
    const zombieSource = source()
    const started = scan()
    await untilHeight(1)
    await started.stop()
    const granted = await deps.cursors.acquireLease('test', 'ethereum', 'zombie', 15_000)
    const stored = await cursor()
    if (granted === null || stored === null) throw new Error('no lease')
    const index = createWatchIndex()
    index.add(ours?.matchKey ?? '')
    const zombie: ScanSession = {
      deps,
      source: zombieSource,
      lease: { epoch: granted.epoch, isHeld: () => true, release: async () => {} },
      index,
      cursor: stored,
    }
    await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase: 5n })
    await chain.mine()
    const past = new Date(0)
    await stores.db.connection
      .collection<{ _id: string }>('chain_cursors')
      .updateOne({ _id: 'test:ethereum' }, { $set: { 'lease.until': past } })
    scan()
    await untilPayments([{ state: 'detected' }])
    await untilHeight(await height())
    const taken = await cursor()

    const blocks = await zombieSource.client.scan(2, 2, index)
    const write = { mode: 'test', network: 'ethereum', blocks, epoch: granted.epoch } as const
    await expect(recordBlockTransfers(deps, write)).rejects.toMatchObject({ name: 'ScannerFenced' })
    await expect(scanTick(zombie)).rejects.toMatchObject({ name: expect.stringMatching(/LeaseLost|ScannerFenced/) })
    expect(await cursor()).toMatchObject({ height: taken?.height, hash: taken?.hash })
    expect(await payments()).toHaveLength(1)
  })
})
