import type { Family } from '#shared/domain/enumerations.ts'

const SATOSHIS = 100_000_000n
const UINT64 = 2n ** 64n - 1n
const INT64 = 2n ** 63n - 1n
const UINT256 = 2n ** 256n - 1n

/**
 * The largest amount of one transfer by family, base units, from the rules of the chains, read 2026-11-28: `MAX_MONEY` of the reference nodes
 * (consensus/amount.h: 21 million BTC, 84 million LTC, 10 billion DOGE in one output), the 256-bit words of the EVM (Yellow Paper, section 4; ERC-20), `int64
 * amount` of TRON's TransferContract (protocol/core/contract/balance_contract.proto) and TRC-20's uint256, `u64` of Solana's System and Token programs.
 */
const LARGEST: Readonly<Record<Family, { readonly coin: bigint; readonly token: bigint }>> = {
  bitcoin: { coin: 21_000_000n * SATOSHIS, token: 0n },
  litecoin: { coin: 84_000_000n * SATOSHIS, token: 0n },
  dogecoin: { coin: 10_000_000_000n * SATOSHIS, token: 0n },
  evm: { coin: UINT256, token: UINT256 },
  tron: { coin: INT64, token: UINT256 },
  solana: { coin: UINT64, token: UINT64 },
}

/** The largest amount that one transfer can carry, base units: of the native coin, or of a token. Zero where a family has no tokens. */
export function largestAmount(family: Family, isToken: boolean): bigint {
  return isToken ? LARGEST[family].token : LARGEST[family].coin
}
