import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'

const RANGE = 50
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

/** Reads all transfers of a token in ranges of blocks and looks their recipients up in a plain set: no checks, no writes. */
export async function bareScan(
  chain: LocalChain,
  contract: string | null,
  keys: readonly string[],
): Promise<{ readonly seconds: number; readonly hits: number }> {
  const watched = new Set(keys)
  const head = Number(await chain.rpc('eth_blockNumber'))
  const startedAt = performance.now()
  let hits = 0
  for (let from = 0; from <= head; from += RANGE) {
    const range = { fromBlock: hex(from), toBlock: hex(Math.min(head, from + RANGE - 1)) }
    const logs = (await chain.rpc('eth_getLogs', [{ ...range, address: contract, topics: [TRANSFER] }])) as Log[]
    for (const log of logs) if (watched.has((log.topics[2] ?? '').slice(26)) && BigInt(log.data) > 0n) hits += 1
  }
  return { seconds: (performance.now() - startedAt) / 1_000, hits }
}

const hex = (value: number): string => `0x${value.toString(16)}`
