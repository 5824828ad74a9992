import { installTokens } from '#dev/local-chain/install-tokens.ts'
import { type LocalChain, startLocalChain } from '#dev/local-chain/start-local-chain.ts'

/** The Ethereum of a worker, which its files use one after the other; it ends with the worker. */
let shared: LocalChain | undefined

/**
 * A local Ethereum that mines on demand, with its tokens, nothing else and the present time: the worker's node, put back to its first block.
 * Only block 0 is as old as the node. Files of a worker run one after the other, so nothing else uses it meanwhile.
 */
export async function freshChain(): Promise<LocalChain> {
  if (shared === undefined) return await anotherChain()
  // What waits to be mined survives a reset.
  await shared.rpc('anvil_dropAllTransactions', [])
  await shared.rpc('anvil_reset', [])
  await shared.rpc('evm_setTime', [Math.floor(Date.now() / 1_000)])
  await installTokens(shared.url, 'ethereum')
  return shared
}

/** Ends the worker's node and starts another one on another port, whose first block is another one unless both are of one second. */
export async function anotherChain(): Promise<LocalChain> {
  const before = shared
  shared = undefined
  await before?.stop()
  shared = await startLocalChain({ blockTimeMs: null })
  return shared
}
