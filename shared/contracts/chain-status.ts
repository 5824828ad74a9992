import { z } from 'zod'
import { ASSET_IDS, MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { chainCommandWire } from './chain-commands.ts'

/** One network in one mode. */
export const chainPlace = z.object({ mode: z.enum(MODES), network: z.enum(NETWORK_IDS) })

const stuckNetwork = z.object({
  cause: z.enum([
    'halted',
    'node_refused',
    'block_unreadable',
    'scan_failed',
    'no_scanner',
    'nodes_disagree',
    'node_silent',
    'no_progress',
    'blocks_skipped',
    'no_new_block',
    'no_node',
  ]),
  /** What happened: names block, method, cause and host if known. */
  sentence: z.string(),
  /** What an operator should do next. */
  advice: z.string(),
  /** Start of the standstill, as far as the cursor shows, Unix milliseconds. */
  since: z.number(),
})

/** A network whose cursor does not advance, and why. */
export type StuckNetwork = z.infer<typeof stuckNetwork>

/** Why a scan cannot pass a block, from the first failure in a row to the last recorded one. */
export const scanTrouble = z.object({
  /** `node`: a response is missing or wrong; `mismatch`: the node is rejected; `other`: our own code or store failed. */
  kind: z.enum(['node', 'silent', 'mismatch', 'other']),
  /** The block that cannot be read; no block above it is read either. */
  height: z.number(),
  hash: z.string().nullable(),
  /** RPC method or HTTP path; null where no single call is the cause. */
  method: z.string().nullable(),
  /** One sentence. Names hosts, never paths, queries or credentials of a URL; at most 300 printable characters. */
  reason: z.string(),
  /** Host of the last node used; null when unknown. */
  host: z.string().nullable(),
  firstAt: z.number(),
  lastAt: z.number(),
  /** Failures in a row, at least: not each one is recorded. */
  tries: z.number(),
})

const factComparison = z.object({
  fact: z.enum(['block_time', 'finality', 'reorganisation']),
  unit: z.enum(['ms', 'blocks']),
  /** Null where the network has no such thing. For reorganisations the depth that halts the scan. */
  row: z.number().nullable(),
  /** Null until it is measured. For reorganisations the deepest one that was followed in 30 days. */
  measured: z.number().nullable(),
  /** More than 30 % apart; for reorganisations: within 30 % of the depth that halts the scan, or beyond it. */
  isOff: z.boolean(),
})

/** One figure of a network's row beside what the scanner measured. */
export type FactComparison = z.infer<typeof factComparison>

const rowAge = z.object({
  /** Date, `YYYY-MM-DD`. */
  on: z.string(),
  source: z.string(),
  /** More than 180 days ago. */
  isOld: z.boolean(),
})

/** When, and by which sources, the row of a network was last compared with the world. */
export type RowAge = z.infer<typeof rowAge>

/** State of one network's scanner in one mode; times are ages in milliseconds. */
export const chainStatusWire = chainPlace.extend({
  /** False when its node was removed from the configuration: it is not scanned any more. */
  hasNode: z.boolean(),
  /** `stuck`: the cursor does not advance, and is not halted either; `stuck` below gives the cause. */
  status: z.enum(['live', 'catchup', 'halted', 'stuck', 'never_scanned']),
  height: z.number().nullable(),
  headHeight: z.number().nullable(),
  /** Distance to the node's head as last read, whether or not the scan advances. */
  lagBlocks: z.number().nullable(),
  /** Since the time of the last scanned block. */
  blockAgeMs: z.number().nullable(),
  /** Since the node's last response. */
  headAgeMs: z.number().nullable(),
  finalizedHeight: z.number().nullable(),
  /** Since the last complete reading of the mempool; null where it cannot be read. */
  mempoolAgeMs: z.number().nullable(),
  /** The scanner; `expired` when it did not renew its lease. */
  lease: z.object({ owner: z.string(), epoch: z.number(), expired: z.boolean() }).nullable(),
  haltReason: z.string().nullable(),
  /** Why the scanner waits although it is not halted: its nodes disagree, or payments wait for one that is silent or stands still. */
  waitReason: z.string().nullable(),
  /** Why the network does not advance and how to fix it; null when it advances. Also set where `status` is `halted`. */
  stuck: stuckNetwork.nullable(),
  /** The failure that prevents reading the next block, from its first second on; null when there is none. */
  trouble: scanTrouble.nullable(),
  /** Deadlines of its invoices take effect up to here, Unix milliseconds: scanned, or released by an operator. */
  deadlinesUntil: z.number().nullable(),
  /** The current release: deadlines up to `through` take effect without a scan. Null when there is none, or the cursor moved since. */
  released: z.object({ through: z.number(), by: z.string() }).nullable(),
  /** Blocks up to here are compared with stored payments after a rewind or resume. */
  recheckThrough: z.number().nullable(),
  /** Tokens that its node has no contract of: invoices in them are refused. */
  missingTokens: z.array(z.enum(ASSET_IDS)),
  /** What the network's row states beside what its scanner measured. */
  facts: z.array(factComparison),
  row: rowAge,
  open: z.array(chainCommandWire),
})

/** State of one network's scanner in one mode. */
export type ChainStatus = z.infer<typeof chainStatusWire>

/** Chain position reported by one node. */
export const nodeState = z.object({
  /** Host and port; the rest of its URL may contain credentials. */
  host: z.string(),
  height: z.number().nullable(),
  finalizedHeight: z.number().nullable(),
  tookMs: z.number().nullable(),
  /** Why there is no position, or why it is not the newest of its network, with how far the node is; null otherwise. */
  fault: z.string().nullable(),
})

/** Chain position reported by one node. */
export type NodeState = z.infer<typeof nodeState>

const scanMode = z.enum(['full', 'thrifty'])

/** How a network is scanned, for whom, and when its node is asked next. Times are Unix milliseconds. */
export const scanPlan = z.object({
  /** `<mode>:<network>` */
  id: z.string(),
  source: scanMode,
  /** What the settings of this process choose, and why; differs from `source` until the scanner starts with them. Null without a node. */
  choice: z.object({ source: scanMode, why: z.string() }).nullable(),
  /** Payment methods of open invoices whose deadline is not scanned yet, most first. */
  open: z.array(z.object({ asset: z.enum(ASSET_IDS), methods: z.number() })),
  /** False when more than 1,000 invoices are open: only those with the nearest deadlines are counted. */
  isComplete: z.boolean(),
  /** True when nothing is open and no payment is unconfirmed: only the head is asked for. Always false in full scanning. */
  isResting: z.boolean(),
  /**
   * When the node is asked at the latest; in the past when a scanner is late. Null where there is no such time: every block is read as it
   * comes, or none is.
   */
  nextLookAt: z.number().nullable(),
  /** Why then, one sentence for people. */
  reason: z.string(),
  /**
   * When addresses without an open invoice are compared next, and up to which block they were: those of the last day's invoices, and
   * all. Null in full scanning.
   */
  nextLooks: z
    .object({ endedAt: z.number(), endedHeight: z.number(), allAt: z.number(), allHeight: z.number() })
    .nullable(),
})

/** How a network is scanned. */
export type ScanPlan = z.infer<typeof scanPlan>

/** The effect that a release of deadlines would have now. Times are Unix milliseconds. */
export const releasePlan = chainPlace.extend({
  height: z.number(),
  /** Null when the network advances: then nothing can be released. */
  stuck: stuckNetwork.nullable(),
  /** Deadlines up to here take effect already, because blocks were read or because of an earlier release. */
  passedUntil: z.number(),
  through: z.number(),
  /** Open invoices that wait for this network, with a deadline not later than `through`; at most 10,000 are counted. One that another network holds up as well goes on waiting for that. */
  waiting: z.number(),
})

/** What a release of deadlines would do. */
export type ReleasePlan = z.infer<typeof releasePlan>
