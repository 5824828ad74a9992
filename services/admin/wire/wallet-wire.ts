import { z } from 'zod'
import { FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES } from '#shared/domain/script-type.ts'
import { WALLET_KINDS, type Wallet } from '#shared/ports/wallets.ts'
import type { KeyStanding } from '#shared/usecases/wallets/key-history.ts'

const ms = z.number()

/** What is known of an extended key, as pages show it. */
export const keyWire = z.object({
  /** Null where addresses are no output scripts. */
  scriptType: z.enum(SCRIPT_TYPES).nullable(),
  /** Networks on which earlier use is searched; nothing is offered until it is empty. */
  waitingFor: z.array(z.enum(NETWORK_IDS)),
  startIndex: z.number(),
  lastUsedIndex: z.number().nullable(),
  givenIndex: z.number().nullable(),
})

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
  /** Null when it is no extended key. */
  key: keyWire.nullable(),
  /** How much of it the workspace proved to control; null where nobody asks. */
  proof: z
    .object({
      /** Addresses of a pool, else 1 or 0. */
      proved: z.number(),
      of: z.number(),
      /** Another workspace proved it: it is disabled until this one does. */
      isDisplaced: z.boolean(),
    })
    .nullable(),
})
export type WalletWire = z.output<typeof walletWire>

/** What pages show of an extended key. */
export function keyToWire(key: KeyStanding | null): z.output<typeof keyWire> | null {
  if (key === null) return null
  const { scriptType, waitingFor, startIndex, lastUsedIndex, givenIndex } = key
  return { scriptType, waitingFor: [...waitingFor], startIndex, lastUsedIndex, givenIndex }
}

/** What a page shows of a wallet among the others of its workspace and mode. */
export function walletToWire(
  wallet: Wallet,
  all: readonly Wallet[],
  { key, proof }: { readonly key: KeyStanding | null; readonly proof: WalletWire['proof'] },
  now: number,
): WalletWire {
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
    key: keyToWire(key),
    proof,
    supersededOn: networks.filter((network) => newer.some((other) => other.networks.includes(network))),
  }
}
