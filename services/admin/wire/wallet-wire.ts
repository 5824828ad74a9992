import { z } from 'zod'
import { FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { WALLET_KINDS, type Wallet } from '#shared/usecases/ports/wallets.ts'

const ms = z.number()

/** A wallet as pages show it. */
export const walletWire = z.object({
  id: z.string(),
  family: z.enum(FAMILIES),
  kind: z.enum(WALLET_KINDS),
  networks: z.array(z.enum(NETWORK_IDS)),
  createdAt: ms,
  disabledAt: ms.nullable(),
  /** Locks are offered from then on; null when they are already, or never while it is disabled. */
  startsAt: ms.nullable(),
  /** Some of the networks send their payers to a newer wallet of the same family. */
  supersededOn: z.array(z.enum(NETWORK_IDS)),
})
export type WalletWire = z.output<typeof walletWire>

/** What a page shows of a wallet among the others of its workspace and mode. */
export function walletToWire(wallet: Wallet, all: readonly Wallet[], now: number): WalletWire {
  const { id, family, kind, networks, createdAt, disabledAt, effectiveAt } = wallet
  const newer = all.filter(
    (other) =>
      other.family === family &&
      other.disabledAt === null &&
      other.createdAt > createdAt &&
      (other.effectiveAt ?? 0) <= now,
  )
  return {
    ...{ id, family, kind, networks: [...networks], createdAt, disabledAt },
    startsAt: disabledAt === null && effectiveAt !== undefined && effectiveAt > now ? effectiveAt : null,
    supersededOn: networks.filter((network) => newer.some((other) => other.networks.includes(network))),
  }
}
