import { assemble } from '#dev/local-chain/assemble.ts'

/** keccak256("Transfer(address,address,uint256)"), EIP-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * Runtime bytecode of a token of which one call emits many `Transfer` logs of the amount 1,000,000: calldata is a count and
 * a first recipient, one word each; recipients count up from there. Any call of 4 bytes returns `decimals`.
 */
export function burstTokenCode(decimals: number): string {
  return assemble(`
    0x04 CALLDATASIZE EQ @decimals JUMPI
    0x0f4240 0x00 MSTORE
    0x00                                       ; sent
    next: DUP1 0x00 CALLDATALOAD EQ @end JUMPI
    DUP1 0x20 CALLDATALOAD ADD                 ; recipient
    0x00 ${TRANSFER} 0x20 0x00 LOG3            ; from nobody, as a mint
    0x01 ADD @next JUMP
    end: 0x00 0x00 RETURN
    decimals: 0x${decimals.toString(16).padStart(2, '0')} 0x00 MSTORE 0x20 0x00 RETURN
  `)
}

/** Calldata for `count` transfers to the addresses `first`, `first` + 1, … */
export function burstCall(count: number, first: bigint): string {
  return `0x${[BigInt(count), first].map((value) => value.toString(16).padStart(64, '0')).join('')}`
}
