import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow } from '#shared/chains/definitions/chain.ts'
import { ASSET_IDS, type AssetId, type NetworkId, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import { assemble } from './assemble.ts'
import { nodeRpc } from './node-rpc.ts'

/** Puts a test token at the real address of every token of an EVM network. Repeating it changes nothing; balances stay. */
export async function installTokens(rpcUrl: string, network: NetworkId): Promise<void> {
  for (const id of ASSET_IDS) {
    const row: AssetRow = ASSETS[id]
    if (networkOf(id) !== network || row.contract === null) continue
    await nodeRpc(rpcUrl, 'anvil_setCode', [
      row.contract,
      testTokenCode({ symbol: symbolOf(id), decimals: row.decimals }),
    ])
  }
}

/** The address of an asset's token on the local chain; null for the native coin. */
export function tokenAddress(asset: AssetId): string | null {
  const row: AssetRow = ASSETS[asset]
  return row.contract
}

/** mem[0..64] ← (address, slot number), hashed: where Solidity keeps `mapping(address => …)` number 0. [address] → [slot] */
const BALANCE = '0x00 MSTORE 0x00 0x20 MSTORE 0x40 0x00 KECCAK256'
/** Slot of allowance[owner][spender], mapping number 1. [owner spender] → [slot] */
const ALLOWANCE = 'SWAP1 0x00 MSTORE 0x01 0x20 MSTORE 0x40 0x00 KECCAK256 0x20 MSTORE 0x00 MSTORE 0x40 0x00 KECCAK256'
const SUPPLY_SLOT = '0x02'
const WORD = '0x00 MSTORE 0x20 0x00 RETURN'
const TRUE = `0x01 ${WORD}`
const ADDRESS_MASK = '0xffffffffffffffffffffffffffffffffffffffff AND'
/** keccak256("Transfer(address,address,uint256)") and keccak256("Approval(address,address,uint256)"), EIP-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

const word = (index: number) => `0x${(4 + 32 * index).toString(16).padStart(2, '0')} CALLDATALOAD`
const account = (index: number) => `${word(index)} ${ADDRESS_MASK}`
const on = (selector: string, target: string) => `DUP1 ${selector} EQ @${target} JUMPI`

/**
 * Runtime bytecode of an EIP-20 token for development chains: balanceOf, transfer, transferFrom, approve, allowance,
 * totalSupply, decimals, symbol, name, and `mint(address,uint256)` that anyone may call. A transfer beyond the balance
 * or allowance reverts. `symbol` has at most 32 ASCII characters. It needs no constructor, so a node can place
 * it at any address.
 */
export function testTokenCode(token: { readonly symbol: string; readonly decimals: number }): string {
  const symbol = Buffer.from(token.symbol, 'ascii').toString('hex').padEnd(64, '0')
  const length = token.symbol.length.toString(16).padStart(2, '0')
  const text = `0x20 0x00 MSTORE 0x${length} 0x20 MSTORE 0x${symbol} 0x40 MSTORE 0x60 0x00 RETURN`
  return assemble(`
    0x00 CALLDATALOAD 0xe0 SHR
    ${on('0x70a08231', 'balanceOf')}
    ${on('0xa9059cbb', 'transfer')}
    ${on('0x23b872dd', 'transferFrom')}
    ${on('0x095ea7b3', 'approve')}
    ${on('0xdd62ed3e', 'allowance')}
    ${on('0x18160ddd', 'totalSupply')}
    ${on('0x313ce567', 'decimals')}
    ${on('0x95d89b41', 'text')}
    ${on('0x06fdde03', 'text')}
    ${on('0x40c10f19', 'mint')}
    fail: 0x00 0x00 REVERT

    balanceOf: ${account(0)} ${BALANCE} SLOAD ${WORD}
    allowance: ${account(0)} ${account(1)} ${ALLOWANCE} SLOAD ${WORD}
    totalSupply: ${SUPPLY_SLOT} SLOAD ${WORD}
    decimals: 0x${token.decimals.toString(16).padStart(2, '0')} ${WORD}
    text: ${text}

    approve:
      ${word(1)} CALLER ${account(0)} ${ALLOWANCE} SSTORE
      ${word(1)} 0x00 MSTORE ${account(0)} CALLER ${APPROVAL} 0x20 0x00 LOG3 ${TRUE}

    transfer: CALLER ${account(0)} ${word(1)} @move JUMP

    transferFrom: ${account(0)} ${account(1)} ${word(2)}   ; from to value
      DUP3 CALLER ${ALLOWANCE} DUP1 SLOAD                  ; from to value slot allowed
      DUP3 DUP2 LT @fail JUMPI
      DUP3 SWAP1 SUB SWAP1 SSTORE @move JUMP

    mint: 0x00 ${account(0)} ${word(1)}                    ; 0 to value
      DUP1 ${SUPPLY_SLOT} SLOAD ADD ${SUPPLY_SLOT} SSTORE @credit JUMP

    move:                                                  ; from to value
      DUP3 ${BALANCE} DUP1 SLOAD                           ; from to value slot balance
      DUP3 DUP2 LT @fail JUMPI
      DUP3 SWAP1 SUB SWAP1 SSTORE
    credit:                                                ; from to value
      DUP2 ${BALANCE} DUP1 SLOAD                           ; from to value slot balance
      DUP3 ADD SWAP1 SSTORE
      0x00 MSTORE SWAP1 ${TRANSFER} 0x20 0x00 LOG3 ${TRUE}
  `)
}
