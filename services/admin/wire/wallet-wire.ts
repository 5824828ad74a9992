import { z } from 'zod'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES } from '#shared/domain/script-type.ts'
import { WALLET_KINDS } from '#shared/ports/key-material.ts'
import type { KeyStanding } from '#shared/usecases/wallets/key-history.ts'

const ms = z.number()

/** State of an extended key, as shown on pages. */
export const keyWire = z.object({
  /** Null where addresses are not output scripts. */
  scriptType: z.enum(SCRIPT_TYPES).nullable(),
  /** Networks on which earlier use is searched; nothing is offered until it is empty. */
  waitingFor: z.array(z.enum(NETWORK_IDS)),
  startIndex: z.number(),
  lastUsedIndex: z.number().nullable(),
  givenIndex: z.number().nullable(),
})

/** A wallet as shown on pages. */
export const walletWire = z.object({
  id: z.string(),
  family: z.enum(FAMILIES),
  kind: z.enum(WALLET_KINDS),
  networks: z.array(z.enum(NETWORK_IDS)),
  createdAt: ms,
  disabledAt: ms.nullable(),
  /** When quotes start using it; null when they do already, or while it is disabled. */
  startsAt: ms.nullable(),
  /** Networks on which a newer wallet of the same family receives instead. */
  supersededOn: z.array(z.enum(NETWORK_IDS)),
  /** Null unless it is an extended key. */
  key: keyWire.nullable(),
  /** How much of it the workspace proved to control; null where no proof is required. */
  proof: z
    .object({
      /** Addresses of a pool, otherwise 1 or 0. */
      proved: z.number(),
      of: z.number(),
      /** Another workspace proved it: it is disabled until this one does. */
      isDisplaced: z.boolean(),
    })
    .nullable(),
})
export type WalletWire = z.output<typeof walletWire>

/** An extended key as shown on pages. */
export function keyToWire(key: KeyStanding | null): z.output<typeof keyWire> | null {
  if (key === null) return null
  const { scriptType, waitingFor, startIndex, lastUsedIndex, givenIndex } = key
  return { scriptType, waitingFor: [...waitingFor], startIndex, lastUsedIndex, givenIndex }
}

/** A wallet as shown on a page among the others of its workspace and mode. */
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
