import { growthBetween, type Holdings, type LogRange, type Sums } from '#shared/ports/account-reader.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { createPersistence } from '../../nodes/persistence.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { decodeTransfer, TRANSFER_TOPIC } from './extract.ts'
import { createLogReader, LOG_RANGE_MAX, type LogReader } from './read-logs.ts'
import type { Log } from './wire.ts'

/** Accounts of one request for logs. */
const RECIPIENTS_MAX = 100

/** Logs of tokens to few accounts. */
export interface AccountLogs {
  /**
   * The logs of a range; null where that takes more requests than `requests`, or the node has refused such requests for 20 s: then balances alone
   * choose the blocks. Throws `NodeUnreliable`.
   */
  read(node: RpcNode, range: LogRange): Promise<readonly Log[] | null>
}

/** Reads them from one node; `contracts` are lower case. */
export function createAccountLogs(contracts: readonly string[]): AccountLogs {
  const reader = createLogReader({ contracts, topics: [TRANSFER_TOPIC], rangeMax: LOG_RANGE_MAX })
  const refusals = createPersistence<RpcNode>()
  return {
    async read(node, range) {
      try {
        const found = await logsOf(node, reader, range)
        refusals.answered(node, 'logs')
        return found
      } catch (error) {
        const mayDo = Number.isFinite(range.requests) && error instanceof RpcFailure
        if (mayDo && refusals.refused(node, 'logs')) return null
        throw error
      }
    },
  }
}

/** Every page of accounts has its share of the requests. */
async function logsOf(
  node: RpcNode,
  reader: LogReader,
  { from, to, matchKeys, requests }: LogRange,
): Promise<readonly Log[] | null> {
  const most = requests / Math.max(1, Math.ceil(matchKeys.length / RECIPIENTS_MAX))
  const found: Log[] = []
  for (let start = 0; start < matchKeys.length; start += RECIPIENTS_MAX) {
    const recipients = matchKeys.slice(start, start + RECIPIENTS_MAX).map((key) => `0x${key.padStart(64, '0')}`)
    const logs = await reader.within(node, { from: from + 1, to, recipients, most })
    if (logs === null) return null
    for (const log of logs) found.push(log)
  }
  return found
}

/** The amount that its block shows as well. */
const amountOf = (log: Log): bigint => decodeTransfer(log)?.value ?? 0n

/** Logs of nothing (address poisoning) choose no block. */
export const loggedHeights = (logs: readonly Log[]): readonly number[] =>
  [...new Set(logs.flatMap((log) => (amountOf(log) > 0n ? log.blockNumber : [])))].sort((one, other) => one - other)

/** Contract and receiver of a transfer. */
const idOf = (contract: string, matchKey: string): string => `${contract}:${matchKey}`
const receiverOf = ({ topics }: Log): string => (topics[2] ?? '').slice(-40)

/** What the logs show for each token and account. */
export function sumsOf(logs: readonly Log[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const log of logs) {
    const id = idOf(log.address.toLowerCase(), receiverOf(log))
    sums.set(id, (sums.get(id) ?? 0n) + amountOf(log))
  }
  return sums
}

/** Whether all that the logs show for the token and account of this one is stored. */
export function isLogged(
  contracts: readonly string[],
  stored: Sums | undefined,
  sums: ReadonlyMap<string, bigint>,
  log: Log,
): boolean {
  const [contract, matchKey] = [log.address.toLowerCase(), receiverOf(log)]
  return stored?.get(matchKey)?.[contracts.indexOf(contract) + 1] === sums.get(idOf(contract, matchKey))
}

/** A token balance that grew by more than the logs show proves that logs are missing. */
export function checkGrowth(
  node: RpcNode,
  {
    contracts,
    matchKeys,
    ends,
    sums,
  }: {
    readonly contracts: readonly string[]
    readonly matchKeys: readonly string[]
    readonly ends: { readonly before: Holdings; readonly after: Holdings }
    readonly sums: ReadonlyMap<string, bigint>
  },
): void {
  for (const matchKey of matchKeys) {
    const after = ends.after.get(matchKey) ?? []
    for (const [at, contract] of contracts.entries()) {
      const growth = growthBetween(ends.before.get(matchKey)?.[at + 1], after[at + 1]) ?? 0n
      if (growth > (sums.get(idOf(contract, matchKey)) ?? 0n)) {
        throw new NodeUnreliable(`the node at ${node.host} left out logs of a token`)
      }
    }
  }
}
