import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { addressSubject, keySubject, newestProof, type OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'

type Wallets = Pick<WalletRepository, 'findAddresses' | 'findProofs'>
type Material = Pick<KeyMaterial, 'id' | 'mode' | 'family' | 'kind'>

/** Whether a candidate may be shown to a payer: `wallet_lost` means that the wallet's other candidates may not be shown either. */
export type Standing = 'ours' | 'address_lost' | 'wallet_lost'

/**
 * Reads, right before an invoice claims an address, whether the wallet still uses it and no other workspace proved control of it.
 * Stocks of candidates live in memory for up to 50 minutes, a proof takes effect at once. Test mode has no proofs and costs
 * no read; live mode costs two at once, each by its index. An address that is not offered at `at` any more counts as lost.
 */
export async function addressStanding(
  wallets: Wallets,
  { mode, family, kind, id: materialId }: Material,
  { workspaceId, matchKey, at }: { readonly workspaceId: string; readonly matchKey: string; readonly at?: Ms },
): Promise<Standing> {
  if (mode === 'test') return 'ours'
  const [own, key] = [addressSubject(mode, family, matchKey), keySubject(materialId)]
  const [[row], proofs] = await Promise.all([
    wallets.findAddresses(mode, family, [matchKey]),
    wallets.findProofs([own, key]),
  ])
  const lost = kind === 'address' ? 'wallet_lost' : 'address_lost'
  if (row === undefined || !(row.heldBy ?? [row.materialId]).includes(materialId)) return lost
  if (at !== undefined && (row.offeredFrom?.[materialId] ?? 0) > at) return lost
  const proof = newestProof(proofs.get(own), proofs.get(key))
  if (proof === null || proof.workspaceId === workspaceId) return 'ours'
  return proofs.get(key) === proof ? 'wallet_lost' : lost
}

/** Whether a workspace may give another quote on an address of its invoice: no other workspace has proved control since. */
export async function stillOwned(
  wallets: Wallets,
  held: { readonly mode: Mode; readonly family: Family; readonly matchKey: string; readonly workspaceId: string },
): Promise<boolean> {
  const { mode, family, matchKey, workspaceId } = held
  if (mode === 'test') return true
  const proofs = await proofsOfRows(wallets, await wallets.findAddresses(mode, family, [matchKey]))
  return (proofs.get(matchKey)?.workspaceId ?? workspaceId) === workspaceId
}

type Row = Pick<WatchedAddress, 'mode' | 'family' | 'matchKey' | 'materialId'>

/** The proofs that apply to stored addresses, by match key; unproved addresses are left out. One read. */
export async function proofsOfRows(
  wallets: Pick<WalletRepository, 'findProofs'>,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, OwnershipProof>> {
  if (rows.length === 0) return new Map()
  const own = ({ mode, family, matchKey }: Row) => addressSubject(mode, family, matchKey)
  const subjects = new Set(rows.flatMap((row) => [own(row), keySubject(row.materialId)]))
  const proofs = await wallets.findProofs([...subjects])
  return new Map(
    rows.flatMap((row) => {
      const proof = newestProof(proofs.get(own(row)), proofs.get(keySubject(row.materialId)))
      return proof === null ? [] : [[row.matchKey, proof] as const]
    }),
  )
}

/** The claim on a whole address: while it is valid, all money on the address is the holder's. */
export function addressClaim(mode: Mode, family: Family, matchKey: string): string {
  return `${mode}:${family}:${matchKey}`
}

/** The claim on one exact amount of one asset on an address that many invoices share. */
export function amountClaim(
  mode: Mode,
  network: NetworkId,
  matchKey: string,
  asset: AssetId,
  amountBase: bigint,
): string {
  return `${mode}:${network}:${matchKey}:${asset}:${amountBase}`
}
