import { findEvmWallets } from './evm-wallets.ts'
import type { PayerWallet } from './payer-wallet.ts'
import { findSolanaWallets } from './solana-wallets.ts'
import { findTronWallets } from './tron-wallets.ts'

/**
 * Shows the wallets in this browser for a chain (`evm`, or as wallets name it), now and when more announce themselves. Returns how to
 * stop. Nothing is asked of a wallet before the payer chooses it.
 */
export function findWallets(chain: string, show: (wallets: readonly PayerWallet[]) => void): () => void {
  if (chain === 'evm') return findEvmWallets(show)
  if (chain.startsWith('solana:')) return findSolanaWallets(chain, show)
  if (chain.startsWith('tron:')) return findTronWallets(show)
  return () => undefined
}
