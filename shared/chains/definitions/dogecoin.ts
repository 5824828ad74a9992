import type { ChainDefinition } from '../chain.ts'

/** Dogecoin. No segwit: P2PKH only; version bytes from Dogecoin Core's chainparams. */
export const dogecoin: ChainDefinition = {
  id: 'dogecoin',
  family: 'dogecoin',
  name: 'Dogecoin',
  chainIds: null,
  nativeSymbol: 'DOGE',
  blockTimeMs: 60_000,
  confirmations: 40,
  confirmsByFinality: false,
  finalityDepth: 240,
  logsRangeMax: 1,
  explorerTx: { live: 'https://blockchair.com/dogecoin/transaction/{tx}', test: null },
  uriScheme: 'dogecoin',
  addressPrefix: { live: { kind: 'base58', version: 0x1e }, test: { kind: 'base58', version: 0x71 } },
  siblings: [],
}
