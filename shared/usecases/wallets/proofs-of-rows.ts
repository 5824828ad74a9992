import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { newestProof, type OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import { addressSubject, keySubject } from '#shared/domain/ownership/subjects.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'

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
