import type { Family } from '../enumerations.ts'

/** What providers bill by. `calls`: each call counts as one. */
export const USAGE_UNITS = ['alchemy', 'quicknode', 'infura', 'calls'] as const
export type UsageUnit = (typeof USAGE_UNITS)[number]

/** What an installation may spend on the nodes of a network in a month. */
export interface NodeQuota {
  readonly perMonth: number
  readonly unit: UsageUnit
}

/** What is publicly stated about one provider of nodes. Data only; every figure with its source and the day it was read. */
export interface ProviderFacts {
  readonly unit: UsageUnit
  /** Ends of the host names of its URLs. */
  readonly hosts: readonly string[]
  /** Units of one call by method, before the rules below. */
  readonly methods: Readonly<Record<string, number>>
  /** Units of a method that is not listed, by family of the network. */
  readonly otherwise: Readonly<Record<Family, number>>
  /** What a traced call costs, as a multiple of `otherwise`; null where `methods` states it. */
  readonly traceFactor: number | null
  /** Most blocks that one `eth_getLogs` may span on the free plan and on paid plans; null: no stated limit. */
  readonly logRangeMax: { readonly free: number | null; readonly paid: number | null }
}

const everywhere = (units: number): Readonly<Record<Family, number>> => ({
  bitcoin: units,
  litecoin: units,
  dogecoin: units,
  evm: units,
  tron: units,
  solana: units,
})

/**
 * Alchemy, compute units: alchemy.com/docs/reference/compute-unit-costs, the pages of `trace_block`,
 * `debug_traceBlockByNumber` and `eth_getBlockReceipts`, read 2026-11-23. Methods outside of these pages count as 20, the most
 * common figure there. Range of logs on the free plan: 10 blocks, as its refusals name it (2026-11, reported and not read
 * there); nothing is stated here of paid plans.
 */
const alchemy: ProviderFacts = {
  unit: 'alchemy',
  hosts: ['.alchemy.com', '.alchemyapi.io'],
  methods: {
    net_version: 0,
    eth_chainId: 0,
    eth_syncing: 0,
    eth_blockNumber: 10,
    eth_feeHistory: 10,
    eth_maxPriorityFeePerGas: 10,
    eth_getBlockByNumber: 20,
    eth_getBlockByHash: 20,
    eth_getBlockReceipts: 20,
    eth_getTransactionReceipt: 20,
    eth_getTransactionByHash: 20,
    eth_getBalance: 20,
    eth_getCode: 20,
    eth_getTransactionCount: 20,
    eth_gasPrice: 20,
    eth_estimateGas: 20,
    eth_call: 26,
    eth_getLogs: 60,
    trace_block: 20,
    trace_filter: 40,
    debug_traceBlockByNumber: 40,
    debug_traceBlockByHash: 40,
    debug_traceTransaction: 40,
  },
  otherwise: everywhere(20),
  traceFactor: null,
  logRangeMax: { free: 10, paid: null },
}

/**
 * QuickNode, API credits: a multiplier per chain, doubled for traces (quicknode.com/api-credits, read 2026-11-23). Range of logs:
 * quicknode.com/docs, `eth_getLogs` (pages of 2026-03 to 2026-08).
 */
const quicknode: ProviderFacts = {
  unit: 'quicknode',
  hosts: ['.quiknode.pro', '.quicknode.com'],
  methods: {},
  otherwise: { bitcoin: 10, litecoin: 10, dogecoin: 10, evm: 20, tron: 30, solana: 30 },
  traceFactor: 2,
  logRangeMax: { free: 5, paid: 10_000 },
}

/**
 * Infura (MetaMask services), credits: docs.metamask.io/services/get-started/pricing/credit-cost, read 2026-11-23: a
 * method that is not listed there costs 80. The rows
 * that differ from 80 are of 2025 and from memory, as that table could not be read again. Its free plan counts by day: 3,000,000
 * credits.
 */
const infura: ProviderFacts = {
  unit: 'infura',
  hosts: ['.infura.io'],
  methods: {
    eth_chainId: 5,
    net_version: 5,
    eth_getLogs: 255,
    eth_getBlockReceipts: 1_000,
    trace_block: 300,
    trace_filter: 300,
    debug_traceBlockByNumber: 1_000,
    debug_traceBlockByHash: 1_000,
    debug_traceTransaction: 1_000,
  },
  otherwise: everywhere(80),
  traceFactor: null,
  logRangeMax: { free: null, paid: null },
}

const PROVIDERS: Readonly<Record<string, ProviderFacts>> = { alchemy, quicknode, infura }

/**
 * Who answers at a host: a known provider's name, so that no part of a host that names an account is stored, otherwise the host
 * itself with its port.
 */
export function providerOf(host: string): string {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const found = Object.entries(PROVIDERS).find(([, { hosts }]) => hosts.some((end) => name.endsWith(end)))
  return found?.[0] ?? host.toLowerCase()
}

/** What is stated about a provider by the name that `providerOf` gives; null for any other host. */
export const factsOf = (provider: string): ProviderFacts | null =>
  Object.hasOwn(PROVIDERS, provider) ? (PROVIDERS[provider] ?? null) : null

/** Units of one call of a method on a network of a family. */
export function unitsOfCall(unit: UsageUnit, family: Family, method: string): number {
  const facts = factsOf(unit)
  if (facts === null) return 1
  const known = Object.hasOwn(facts.methods, method) ? facts.methods[method] : undefined
  const isTrace = /^(trace|debug|arbtrace)_/.test(method)
  return known ?? facts.otherwise[family] * (isTrace ? (facts.traceFactor ?? 1) : 1)
}
