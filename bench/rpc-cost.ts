import { createHash } from 'node:crypto'
import { blocksOf } from '#shared/chains/chain-figures.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { ASSET_IDS, type AssetId, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { adoptMode } from '#shared/usecases/scanning/scan-mode.ts'
import type { ScanSession, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { scanTick } from '#shared/usecases/scanning/scan-tick.ts'
import { usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { thriftyTick } from '#shared/usecases/scanning/thrifty-tick.ts'
import type { BenchOptions } from './options.ts'
import {
  casesOf,
  countByQuestion,
  createLuck,
  isFull,
  lineOf,
  millions,
  type Outcome,
  totals,
} from './rpc-cost-figures.ts'
import { type CountingNode, startCountingNode } from './rpc-cost-node.ts'
import { type BenchInvoice, createBenchIndex, createBenchStore } from './rpc-cost-store.ts'

const NETWORKS = ['ethereum', 'bsc', 'polygon', 'base', 'arbitrum'] as const satisfies readonly NetworkId[]
const DAY_MS = 86_400_000
const LIFE_MS = 20 * 60_000
/** Invoices are opened within half a day. */
const BUSY_MS = DAY_MS / 2
/** Blocks of full scanning that are played; its costs do not depend on invoices. */
const FULL_BLOCKS = 400
const SECOND = 1_000

/** One network for some days. */
interface Play {
  readonly network: NetworkId
  /** Invoices of this network a day, all within twelve hours. */
  readonly perDay: number
  readonly pageMs: number
  readonly logRangeMax: number
  /** Time between two blocks, as a multiple of the network's. */
  readonly pace: number
  /** Addresses of invoices that ended long ago. */
  readonly old: number
  readonly days: number
  /** 1, or 2: a second node, which the product asks as it asks one in operation. */
  readonly nodes: number
}

/**
 * What scanning costs in a month on five EVM networks: the real steps of the scanner on a virtual clock, against nodes that speak JSON-RPC and
 * count. `rounds` days are played and scaled to thirty; every day is like the others. `only` chooses a number of invoices a day.
 */
export async function benchRpcCost({ print, only, rounds }: BenchOptions): Promise<void> {
  const { loads, pagesMs, ranges, ...rest } = casesOf(only)
  print(
    `units by the list of Alchemy; ${rounds} day${rounds === 1 ? '' : 's'} played, figures for 30 days; 20 % abandoned, 10 % of the payers pay when their page is closed`,
  )
  if (only === null || isFull(only)) await printFull(print, rest.nodes)
  for (const logRangeMax of ranges) {
    for (const pageMs of pagesMs) {
      for (const load of loads) {
        if (only === null && load === 0 && (pageMs < 240_000 || logRangeMax > 10)) continue
        await printThrifty(print, { load, pageMs, logRangeMax, days: rounds, ...rest })
      }
    }
  }
}

async function printThrifty(
  print: (line: string) => void,
  { load, ...rest }: Omit<Play, 'network' | 'perDay'> & { readonly load: number },
): Promise<void> {
  const { pageMs, logRangeMax, nodes, pace, old } = rest
  print(
    `thrifty, ${load} invoices a day, page open ${pageMs / 60_000} min, logs of ${logRangeMax} blocks a request${nodes > 1 ? ', two nodes' : ''}${pace === 1 ? '' : `, ${pace} times the pace`}${old === 0 ? '' : `, ${old} old addresses`}`,
  )
  let units = 0
  const reasons = new Map<string, number>()
  for (const network of NETWORKS) {
    const outcome = await play({ network, perDay: load / NETWORKS.length, ...rest })
    units += outcome.units
    for (const [reason, spent] of outcome.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + spent)
    print(`  ${lineOf(network, outcome)}`)
  }
  const shares = [...reasons].sort(([, one], [, other]) => other - one)
  print(
    `  all: ${millions(units)} M units: ${shares.map(([reason, spent]) => `${reason} ${millions(spent)}`).join(', ')}`,
  )
}

/** Opens the scanner's steps of one network at a moment, on stores in memory. */
async function openNetwork(
  network: NetworkId,
  {
    startAt,
    logRangeMax,
    isThrifty,
    nodes,
    pace,
    old,
  }: Pick<Play, 'logRangeMax' | 'nodes' | 'pace' | 'old'> & { startAt: number; isThrifty: boolean },
) {
  const time = { now: startAt }
  // The pool asks a node that is not in use after some time of this clock.
  if (nodes > 1) performance.now = () => time.now
  const usual: ChainDefinition = CHAINS[network]
  const chain = { ...usual, blockTimeMs: usual.blockTimeMs * pace }
  const tokens = ASSET_IDS.filter((id) => networkOf(id) === network).flatMap((asset) => {
    const { contract, decimals } = ASSETS[asset]
    return contract === null ? [] : [{ asset, contract, decimals }]
  })
  const node = await startCountingNode({
    chain,
    tokens,
    startAt: startAt - 3_600_000,
    now: () => time.now,
    logRangeMax,
  })
  const store = createBenchStore(network, () => time.now)
  const client = createChainClient(
    { live: { [network]: { rpcUrls: node.urls.slice(0, nodes) } }, test: {} },
    'live',
    network,
    store.deps.metrics,
  )
  if (client === null) throw new Error('no client')
  const reasons = new Map<string, number>()
  const counted = countByQuestion(node, client, reasons)
  await client.verify()
  const head = await client.head()
  const block = await client.blockAt(head.height)
  if (block === null) throw new Error('no head')
  const source: ScanSource = {
    mode: 'live',
    network,
    family: 'evm',
    client: counted,
    createIndex: createWatchIndex,
    pollMs: SECOND,
    finalityDepth: blocksOf(chain.reorganisation, chain, null),
    dropAfterMs: 0,
    batchMax: 50,
    development: false,
    ...(isThrifty && { thrifty: usualPace(chain.blockTimeMs, async () => false) }),
  }
  const cursor: ChainCursor = {
    id: `live:${network}`,
    mode: 'live',
    network,
    height: block.height,
    hash: block.hash,
    time: block.time,
    window: [[block.height, block.hash]],
    headHeight: block.height,
    headSeenAt: time.now,
    finalizedHeight: head.finalizedHeight,
    status: 'live',
    haltReason: null,
    genesisHash: '',
    lease: null,
  }
  const session: ScanSession = {
    deps: store.deps,
    source,
    lease: { epoch: 1, isHeld: () => true, release: async () => {} },
    index: createBenchIndex(old, () => time.now),
    missingSince: new Map(),
    attention: { until: 0 },
    cursor,
  }
  await adoptMode(session)
  node.calls.clear()
  node.second.calls.clear()
  reasons.clear()
  node.bytes = 0
  const close = async () => {
    await client.close()
    await node.close()
  }
  return { time, node, store, session, tokens, reasons, close }
}

async function play({ network, perDay, pageMs, logRangeMax, days, nodes, pace, old }: Play): Promise<Outcome> {
  const startAt = Date.UTC(2026, 0, 1)
  const stage = await openNetwork(network, { startAt, logRangeMax, isThrifty: true, nodes, pace, old })
  const { time, node, store, session, tokens } = stage
  const apartMs = CHAINS[network].blockTimeMs * pace
  const luck = createLuck(`${network}:${perDay}:${pageMs}`)
  const arrivals = Array.from({ length: perDay * days }, (_, index) => {
    const day = Math.floor(index / perDay)
    return startAt + day * DAY_MS + DAY_MS / 4 + luck() * BUSY_MS
  }).sort((one, other) => one - other)
  const attention = session.attention as { until: number }
  const pages: { readonly until: number }[] = []
  const due: { readonly at: number; readonly invoice: BenchInvoice }[] = []
  const coin = ASSET_IDS.find((id) => networkOf(id) === network && ASSETS[id].contract === null) as AssetId
  for (; time.now < startAt + days * DAY_MS; time.now += SECOND) {
    while ((arrivals[0] ?? Number.POSITIVE_INFINITY) <= time.now) {
      arrivals.shift()
      const isCoin = network !== 'polygon' && luck() < 0.25
      const token = tokens[Math.floor(luck() * tokens.length)]
      const matchKey = createHash('sha1').update(`${network}:${store.invoices.length}`).digest('hex')
      const invoice: BenchInvoice = {
        id: matchKey,
        matchKey,
        asset: isCoin || token === undefined ? coin : token.asset,
        since: time.now,
        expiresAt: time.now + LIFE_MS,
        status: 'pending',
        paidAt: null,
        seenAt: null,
      }
      store.invoices.push(invoice)
      session.index.add(matchKey)
      pages.push({ until: time.now + pageMs })
      const isClosed = luck() < 0.1
      const waitMs = isClosed ? pageMs + 60_000 + luck() * 600_000 : 15_000 + luck() * (pageMs - 20_000)
      if (luck() >= 0.2) due.push({ at: time.now + waitMs, invoice })
    }
    for (const one of due.filter(({ at }) => at <= time.now)) {
      due.splice(due.indexOf(one), 1)
      const token = tokens.find(({ asset }) => asset === one.invoice.asset) ?? null
      const { height } = node.pay({ matchKey: one.invoice.matchKey, token, amountBase: 10n ** 18n })
      one.invoice.paidAt = node.timeOf(height) + (apartMs < SECOND ? apartMs : 0)
    }
    if (pages.some(({ until }) => until > time.now)) attention.until = time.now + 15 * SECOND
    for (const one of store.invoices)
      if (one.status === 'pending' && session.cursor.time >= one.expiresAt) one.status = 'expired'
    await thriftyTick(session)
  }
  const scale = 30 / days
  const outcome = outcomeOf(node, store.invoices, { pageMs, scale, nodes })
  await stage.close()
  return { ...outcome, reasons: new Map([...stage.reasons].map(([reason, units]) => [reason, units * scale])) }
}

function outcomeOf(
  node: CountingNode,
  invoices: readonly BenchInvoice[],
  { pageMs, scale, nodes }: { pageMs: number; scale: number; nodes: number },
): Omit<Outcome, 'reasons'> {
  const [calls, units] = totals(node)
  const seen = invoices.flatMap(({ paidAt, seenAt, since }) =>
    paidAt === null || seenAt === null ? [] : [{ isOpen: paidAt < since + pageMs, ms: Math.max(0, seenAt - paidAt) }],
  )
  const delays = (isOpen: boolean) => seen.filter((one) => one.isOpen === isOpen).map(({ ms }) => ms)
  const missed = invoices.filter(({ paidAt, seenAt }) => paidAt !== null && seenAt === null).length
  return {
    calls: calls * scale,
    units: units * scale,
    bytes: node.bytes * scale,
    second: secondOf(node, { scale, nodes }),
    open: delays(true),
    closed: delays(false),
    missed,
  }
}

function secondOf({ second }: CountingNode, { scale, nodes }: { scale: number; nodes: number }): Outcome['second'] {
  const [calls, units] = totals(second)
  return nodes < 2 ? null : { calls: calls * scale, units: units * scale }
}

/** Full scanning reads every block, whatever is open: some blocks are played at their pace, with the scanner's own pauses. */
async function printFull(print: (line: string) => void, nodes: number): Promise<void> {
  print(`full, whatever is open${nodes > 1 ? ', two nodes' : ''}`)
  let sum = 0
  for (const network of NETWORKS) {
    const stage = await openNetwork(network, {
      startAt: Date.UTC(2026, 0, 1),
      logRangeMax: 10,
      isThrifty: false,
      nodes,
      pace: 1,
      old: 0,
    })
    const { blockTimeMs } = CHAINS[network]
    const pauseMs = Math.min(2_000, Math.max(250, blockTimeMs / 6))
    const from = stage.time.now
    while (stage.time.now - from < FULL_BLOCKS * blockTimeMs) {
      if (!(await scanTick(stage.session))) stage.time.now += pauseMs
    }
    const scale = (30 * DAY_MS) / (stage.time.now - from)
    const [calls, units] = totals(stage.node)
    sum += units * scale
    print(
      `  ${lineOf(network, { calls: calls * scale, units: units * scale, bytes: stage.node.bytes * scale, second: secondOf(stage.node, { scale, nodes }), reasons: new Map(), open: [], closed: [], missed: 0 })}`,
    )
    await stage.close()
  }
  print(`  all: ${millions(sum)} M units`)
}
