import type { ChainClient } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { required, unserved } from '../../nodes/needs.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { TRANSFER_TOPIC } from './extract.ts'
import { createHoldingsReader, holdingsAt } from './holdings.ts'
import type { EvmClientOptions } from './options.ts'
import { LOG_RANGE_MAX } from './read-logs.ts'
import { readHeader, toQuantity } from './rpc.ts'
import { logsSchema } from './wire.ts'

const DAY_MS = 86_400_000
/** An address that many send to and nobody sends from. */
const SOMEBODY = 'dead'.padStart(40, '0')

/**
 * Requests of the node in use what looking for payments needs of any EVM node: balances of a day ago by the block's hash, logs, many
 * balances in one request, and the finalized block. See docs/nodes.md, "What the first real payment needs".
 */
export function createProbe(
  { chain, tokens, mode }: EvmClientOptions,
  pool: RpcPool<RpcNode>,
): NonNullable<ChainClient['probe']> {
  const contracts = tokens.map(({ contract }) => contract.toLowerCase())
  const holdings = createHoldingsReader({ tokens: contracts, mayLackTokens: mode === 'test' })

  async function readDayOld(node: RpcNode): Promise<void> {
    const newest = required(await readHeader(node, 'latest'), 'newest block')
    const height = Math.max(0, newest.number - Math.ceil(DAY_MS / chain.blockTimeMs))
    const old = required(await readHeader(node, height), `block ${height}, of a day ago`)
    const place = { height, hash: old.hash, time: old.timestamp * 1_000 }
    const question = { ...place, numbersAreParents: chain.numbersAreParents === true }
    required(await holdingsAt(holdings, node, [SOMEBODY], question), `balances of block ${height}, of a day ago`)
  }

  async function readLogs(node: RpcNode): Promise<void> {
    const { number } = required(await readHeader(node, 'latest'), 'newest block')
    const topics = [[TRANSFER_TOPIC], null, [`0x${SOMEBODY.padStart(64, '0')}`]]
    const read = (from: number) => {
      const range = { fromBlock: toQuantity(Math.max(0, from)), toBlock: toQuantity(number) }
      return node.call('eth_getLogs', [{ ...range, address: contracts, topics }], logsSchema)
    }
    // A range that is too wide becomes smaller while scanning: only a single block that is refused is a fault.
    await read(number - LOG_RANGE_MAX + 1).catch(() => read(number))
  }

  return () =>
    pool.use((node) =>
      unserved([
        {
          need: 'balances of a day ago',
          consequence:
            'late payments to ended invoices, and coins sent by contracts during a pause, are found by reading every block, or wait for a person',
          request: () => readDayOld(node),
        },
        ...(contracts.length === 0
          ? []
          : [
              {
                need: 'logs of tokens',
                consequence:
                  'token payments are not found in thrifty mode, and need one request for each transaction in full mode',
                request: () => readLogs(node),
              },
            ]),
        {
          need: `balances of many addresses in one request`,
          consequence: 'each look needs one request for each balance, which spends a quota many times faster',
          request: () => holdings.readTogether(node),
        },
        {
          need: 'the finalized block',
          consequence: 'payments that need finality stay unconfirmed',
          request: async () => required(await readHeader(node, 'finalized'), 'finalized block'),
        },
      ]),
    )
}
