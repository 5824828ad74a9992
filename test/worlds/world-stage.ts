import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, vi } from 'vitest'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import type { OpenChainClient } from '#shared/chains/create-chain-client.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { readBooks } from '#test/support/evm-oracle.ts'
import { REFUSALS } from '#test/support/refusals.ts'
import type { TestStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import { freshChain } from '#test/support/worker-chain.ts'
import { HONEST, startWorldNode, type WorldNode } from '#test/support/world-node.ts'
import { differencesOf, type StoredMoney } from './compare-money.ts'
import { type Account, createPayers, type Payers } from './payers.ts'
import { ACCOUNTS, type History, type Step } from './world-history.ts'
import { COIN, CONFIRMATIONS, depsOf, FINALITY_DEPTH, openClient, openInvoiceFor, SOURCE } from './world-setup.ts'

const PATIENCE = { timeout: 30_000, interval: 20 }
/** Time between two blocks of the network, milliseconds: the pace 1. */
const BLOCK_MS = 12_000
/** Far beyond every block of a history, at every pace. */
const DEADLINE_MS = 30 * 24 * 3_600_000
/** Blocks between the first coins of an account and its invoice: more than a first start reads. */
const BEFORE = 24
const DAY_S = 86_400
const TIMED_OUT = { error: { code: -32_000, message: 'timed out' } }
/** Looks at the cursor while a node may still be wrong. */
const TRIES = 50
const UNITS = { eth_ethereum: 10n ** 15n, usdt_ethereum: 1_000_000n, usdc_ethereum: 1_000_000n } as const
/** The account that passes everything on. */
const FORWARDING = ACCOUNTS.findIndex(({ kind }) => kind === 'forwarding')

/** Plays histories, one after the other, on one chain. */
export interface WorldStage {
  /** Throws when a deadline passed over money that is not stored, or when anything else is stored than what the oracle says. */
  play(history: History): Promise<void>
}

/** Opens the chain for the histories of a group of tests, whose blocks follow each other at `pace` times the network's block time. */
export function useWorldStage(stores: TestStores, pace: number): WorldStage {
  let chain: LocalChain
  let payers: Payers
  beforeAll(async () => {
    chain = await freshChain()
    payers = await createPayers(chain)
    await chain.mine()
  })
  return {
    async play(history) {
      const run = await openRun({ stores, chain, payers, pace }, history)
      try {
        for (const step of history.steps) await run.take(step)
        await run.compare()
      } finally {
        await run.close()
      }
    },
  }
}

interface Ground {
  readonly stores: TestStores
  readonly chain: LocalChain
  readonly payers: Payers
  readonly pace: number
}

async function openRun({ stores, chain, payers, pace }: Ground, history: History) {
  let { isAttentive } = history
  let wasAttentive = isAttentive
  let node: WorldNode
  let stepMs = 0
  const clock = { now: () => Date.now() + stepMs }

  const height = async () => Number(await chain.rpc('eth_blockNumber'))
  const newestTime = async () =>
    Number(((await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { readonly timestamp: string }).timestamp)

  /**
   * Mines blocks at the pace of the history; the clock follows. Nobody asks meanwhile: while it mines, anvil gives the state of the next block for
   * that of the newest, by hash too (seen in 58 of 359 blocks).
   */
  async function mine(blocks = 1, pauseS = 0): Promise<void> {
    for (let count = 0; count < blocks; count += 1) await node.hold(() => mineAlone(1, count === 0 ? pauseS : 0))
  }

  async function mineAlone(blocks = 1, pauseS = 0): Promise<void> {
    const apartS = Math.max(1, Math.round((BLOCK_MS * pace) / 1_000))
    let time = (await newestTime()) + pauseS
    for (let count = 0; count < blocks; count += 1) {
      time += apartS
      follow(time)
      await chain.rpc('evm_setNextBlockTimestamp', [time])
      await chain.mine()
    }
  }
  const follow = (timeS: number): void => {
    stepMs = Math.max(stepMs, timeS * 1_000 - Date.now())
  }

  await emptyDatabase(stores.db)
  const accounts: Account[] = []
  for (const { kind } of ACCOUNTS) accounts.push(await payers.open(kind))
  await mineAlone(BEFORE)
  await mineAlone(1, 3_600)
  const deps = depsOf(stores, clock)
  await deps.wallets.addDerived(
    'test:evm:world',
    accounts.map(({ address, matchKey }, index) => ({
      ...{ index, address, matchKey },
      ...{ mode: 'test', family: 'evm', materialId: 'test:evm:world', watchedOn: [] },
    })),
    accounts.length,
  )
  node = await startWorldNode(chain.url, HONEST)
  const from = await height()
  const endsAt = clock.now() + DEADLINE_MS

  let client: OpenChainClient | null = null
  let scanner: ChainScanner | null = null
  const start = () => {
    client = openClient(stores, node.url)
    const pace = briskPace(LOOKS)
    scanner = startChainScanner(deps, { ...SOURCE, client, looks: pace, ...(isAttentive && { thrifty: pace }) })
  }
  const stop = async () => {
    await scanner?.stop()
    await client?.close()
    scanner = null
    client = null
  }
  const cursorOf = () => deps.cursors.find('test', 'ethereum')

  start()
  // The place from which money counts.
  await vi.waitFor(async () => expect((await cursorOf())?.headHeight).toBeGreaterThanOrEqual(from), PATIENCE)
  for (const [index, { waitsFor, status }] of ACCOUNTS.entries()) {
    const account = accounts[index]
    if (waitsFor === null || account === undefined) continue
    await openInvoiceFor(stores, account, { asset: waitsFor, status, at: clock.now(), endsAt, number: index + 1 })
  }
  await breathe()
  node.become(history.node)

  /** Until the scanner has put a few questions, where it has any. */
  async function breathe(): Promise<void> {
    const sum = () => [...node.calls.values()].reduce((all, count) => all + count, 0)
    const before = sum()
    for (let waited = 0; waited < 10 && sum() < before + 6; waited += 1) await delay(10)
  }

  /** Until the scanner is at the newest block, where it gets there soon. */
  async function readUp(): Promise<void> {
    const newest = await height()
    for (let tries = 0; tries < TRIES && scanner !== null && ((await cursorOf())?.height ?? 0) < newest; tries += 1) {
      await delay(10)
    }
  }

  const at = (index: number): Account => {
    const account = accounts[index]
    if (account === undefined) throw new Error('no such account')
    return account
  }
  const sized = (asset: AssetId, size: bigint) => size * UNITS[asset as keyof typeof UNITS]
  /** All of it or half, but what a key needs for gas. */
  const part = async (account: Account, asset: AssetId, isAll: boolean) => {
    const held = await payers.holds(account, asset)
    const gas = asset === COIN && account.kind === 'key' ? 10n ** 17n : 0n
    return held <= gas ? 0n : (held - gas) / (isAll ? 1n : 2n)
  }

  async function take(step: Step): Promise<void> {
    if (step.kind === 'pay') await payers.pay(at(step.to), step.asset, sized(step.asset, step.size))
    if (step.kind === 'call') await payers.call(at(step.to), sized(COIN, step.size))
    if (step.kind === 'destroy') await payers.destroy(at(step.to), sized(COIN, step.size))
    if (step.kind === 'batch') await payers.batch(at(step.to), at(step.other), sized(COIN, step.size))
    if (step.kind === 'poison') {
      for (let count = 0; count < step.count; count += 1) await payers.poison(at(step.to), 'usdt_ethereum')
    }
    if (step.kind === 'dust') {
      for (let count = 0; count < step.count; count += 1) {
        await payers.pay(at(step.to), step.asset, 1n)
        await mine()
      }
    }
    if (step.kind === 'mine') await mine(step.blocks)
    if (step.kind === 'nowhere') await fromNowhere(at(step.to), sized(COIN, step.size))
    if (step.kind === 'reward') await reward(at(step.to))
    if (step.kind === 'fail') await payers.fail(at(FORWARDING), sized(COIN, step.size))
    // A final block is never replaced.
    if (step.kind === 'fork' && !history.node.isFinalAtHead) await fork(step)
    if (step.kind === 'refuse') node.refuse(REFUSALS[step.words] ?? {}, step.calls)
    if (step.kind === 'ahead') node.runAhead(DAY_S, step.answers)
    if (step.kind === 'breathe') await breathe()
    if (step.kind === 'blind') node.refuse(TIMED_OUT, step.calls, true)
    if (step.kind === 'pause') await stop()
    if (step.kind === 'resume' && scanner === null) start()
    if (step.kind === 'change') await change()
    await takeOut(step)
  }

  /** The other way of reading, at once where a scanner runs. */
  async function change(): Promise<void> {
    const isRunning = scanner !== null
    await stop()
    isAttentive = !isAttentive
    wasAttentive ||= isAttentive
    if (isRunning) start()
  }

  /** The key sends all coins on, and then those that come next: the account holds nothing, something, and nothing again. */
  async function through({ to, size, isInside }: Extract<Step, { kind: 'through' }>): Promise<void> {
    await payers.drain(at(to))
    await mine()
    if (isInside) await payers.call(at(to), sized(COIN, size))
    else await payers.pay(at(to), COIN, sized(COIN, size))
    await mine()
    await payers.drain(at(to))
    await mine()
  }

  /** A collector takes all tokens, and then those that come next: the account holds none, some, and none again. */
  async function taken({ to, asset, size }: Extract<Step, { kind: 'taken' }>): Promise<void> {
    const collect = async () => {
      const held = await payers.holds(at(to), asset)
      if (held > 0n) await payers.collect(at(to), asset, held)
    }
    await collect()
    await mine()
    await breathe()
    await payers.pay(at(to), asset, sized(asset, size))
    await node.hold(async () => {
      await mineAlone()
      await collect()
      await mineAlone()
    })
  }

  async function takeOut(step: Step): Promise<void> {
    if (step.kind === 'through') await through(step)
    if (step.kind === 'taken') await taken(step)
    if (step.kind === 'delegate') await payers.delegate(at(step.from))
    if (step.kind !== 'sweep' && step.kind !== 'collect' && step.kind !== 'execute') return
    const account = at(step.from)
    const asset = step.kind === 'execute' ? COIN : step.asset
    const amountBase = await part(account, asset, step.isAll)
    if (amountBase === 0n) return
    if (step.kind === 'execute') await payers.execute(account, amountBase)
    else if (step.kind === 'collect') await payers.collect(account, step.asset, amountBase)
    // A contract has no key.
    else if (account.kind === 'key') await payers.sweep(account, asset, amountBase).catch(ifPoor)
  }

  /** Coins of a new block that no transaction moved, as withdrawals of validators do; nobody sees the block without them. */
  async function fromNowhere(to: Account, amountBase: bigint): Promise<void> {
    await node.hold(async () => {
      await mineAlone()
      await chain.fund(to.address, (await payers.holds(to, COIN)) + amountBase)
    })
    // From here on the state is that of the block.
    await mine()
  }

  /** The account makes a block and gets its fees. */
  async function reward(to: Account): Promise<void> {
    await chain.rpc('anvil_setCoinbase', [to.address])
    await payers.pay(at(0), 'usdt_ethereum', 1n)
    await mine()
    await chain.rpc('anvil_setCoinbase', [`0x${'00'.repeat(20)}`])
  }

  /** Blocks with a payment each, seen by the scanner, which others without it replace. */
  async function fork(step: Extract<Step, { kind: 'fork' }>): Promise<void> {
    await mine()
    const snapshot = await chain.rpc('evm_snapshot')
    for (let count = 0; count < step.depth; count += 1) {
      await payers.pay(at(step.to), step.asset, sized(step.asset, 1n))
      await mine()
    }
    await readUp()
    await node.hold(async () => {
      await chain.rpc('evm_revert', [snapshot])
      await mineAlone(1, 1)
      await mineAlone(step.depth)
    })
  }

  /** The money as the store has it. */
  async function storedMoney(): Promise<readonly StoredMoney[]> {
    const keys = accounts.map(({ matchKey }) => matchKey)
    const rows = await stores.db.connection
      .collection('payments')
      .find({ matchKey: { $in: keys }, state: { $in: ['detected', 'confirmed'] }, asset: { $ne: null } })
      .toArray()
    return rows.map((row) => ({
      height: Number(row['block']?.height),
      hash: String(row['block']?.hash),
      ...(row['block']?.rise !== undefined && { since: Number(row['block'].rise.since.height) }),
      matchKey: String(row['matchKey']),
      asset: String(row['asset']),
      amountBase: BigInt(String(row['amountBase'])),
      txHash: row['txHash'] === null ? null : String(row['txHash']),
    }))
  }

  /** Tokens of accounts that wait, whose logs show whatever came; and coins of those that nothing left: balances show them. */
  const isPlain = ({ matchKey, asset }: { readonly matchKey: string; readonly asset: string }): boolean => {
    const index = accounts.findIndex((account) => account.matchKey === matchKey)
    if (asset !== COIN) return ACCOUNTS[index]?.status === 'pending'
    const hasLost = history.steps.some(
      (step) => ('from' in step && step.from === index) || (step.kind === 'through' && step.to === index),
    )
    return ACCOUNTS[index]?.status === 'pending' && index !== FORWARDING && !hasLost
  }

  /**
   * Compares what is stored with the oracle's books: tokens, and coins of plain accounts, of an honest node while their deadlines are far away, because a proof would
   * find what was missed until then; then of the open invoices when every deadline has passed, at that very moment.
   */
  async function compare(): Promise<void> {
    if (scanner === null) start()
    // Tokens that came and left between two looks are seen with the next change, or at the deadline.
    await payers.pay(at(0), 'usdt_ethereum', sized('usdt_ethereum', 1n))
    await mine(CONFIRMATIONS)
    node.mend()
    const paidUntil = await height()
    const keys = accounts.map(({ matchKey }) => matchKey)
    const books = await readBooks(chain.url, keys, { from, to: paidUntil })
    const unawaited = new Set(
      ACCOUNTS.flatMap(({ status }, index) => (status === 'pending' ? [] : [at(index).matchKey])),
    )
    const differences = async (isOurs: (row: { readonly matchKey: string; readonly asset: string }) => boolean) => {
      const isStateGone = history.node.stateBlocks !== null
      const wasBlind = history.steps.some(({ kind }) => kind === 'blind')
      const scene = {
        isAttentive: wasAttentive,
        wasBlind,
        isStateGone,
        unawaited,
        inInbox: await accountsInInbox(stores, keys),
      }
      const incomes = books.incomes.filter(isOurs)
      return differencesOf({ ...books, incomes }, (await storedMoney()).filter(isOurs), scene)
    }
    const { stateBlocks, lagBlocks, ignoresHashes } = history.node
    if (stateBlocks === null && lagBlocks === 0 && !ignoresHashes) {
      await vi.waitFor(async () => expect(await differences(isPlain)).toEqual([]), PATIENCE)
    }
    // A test network's deadlines also pass by the clock: nobody may read it between the clock's jump and the chain's.
    await stop()
    await mine(1, DEADLINE_MS / 1_000)
    start()
    // A network at which nothing is open any more passes final blocks only.
    await mine(isAttentive ? FINALITY_DEPTH + 70 : 2)
    const hasPassed = async (): Promise<boolean> => {
      scanner?.wake()
      const cursor = await cursorOf()
      // As on a main network: by times of blocks.
      return cursor !== null && deadlinesPassUntil({ ...cursor, mode: 'live' }, BLOCK_MS) > endsAt
    }
    // A node that shows an old or a wrong state may hold a deadline up, and may not let it pass over money.
    for (let tries = 0; tries < TRIES && !(await hasPassed()); tries += 1) await delay(20)
    node.become({ ...history.node, lagBlocks: 0, ignoresHashes: false })
    await vi.waitFor(async () => {
      const isPassed = await hasPassed()
      const { height: at, headHeight, time, atHeadAt, headSeenAt, status, trouble } = (await cursorOf()) ?? {}
      const position = { at, headHeight, time, atHeadAt, headSeenAt, status, reason: trouble?.reason, endsAt }
      expect({ ...position, isPassed }, JSON.stringify(position)).toMatchObject({ isPassed: true })
    }, PATIENCE)
    expect(await differences(({ matchKey }) => !unawaited.has(matchKey))).toEqual([])
    // Looks end at final blocks.
    await mine(FINALITY_DEPTH + 70)
    await vi.waitFor(async () => expect(await differences(() => true)).toEqual([]), PATIENCE)
  }

  return {
    take,
    compare,
    async close() {
      await stop()
      await node.close()
    },
  }
}

async function accountsInInbox({ db }: TestStores, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.connection.collection('exceptions').find({ kind: 'unexplained_balance' }).toArray()
  return new Set(keys.filter((key) => rows.some(({ _id }) => String(_id).includes(`:${key}:${COIN}:`))))
}

/** Who has no coins for gas sends nothing. */
function ifPoor(error: unknown): void {
  if (!/insufficient funds/i.test(String(error))) throw error
}

const LOOKS = { endedLookMs: 1_000, allLookMs: 2_000 }
