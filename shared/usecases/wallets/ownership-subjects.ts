import type { Family, Mode } from '#shared/domain/enumerations.ts'
import { newestProof, type OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { WalletRepository, WatchedAddress } from '#shared/ports/wallets.ts'

/** The name under which the proof of one address is stored. */
export function addressSubject(mode: Mode, family: Family, matchKey: string): string {
  return `address:${mode}:${family}:${matchKey}`
}

/** The name under which the proof of an extended key is stored. */
export function keySubject(materialId: string): string {
  return `key:${materialId}`
}

type Row = Pick<WatchedAddress, 'mode' | 'family' | 'matchKey' | 'materialId'>

/** The proofs that decide about stored addresses, by match key; addresses that nobody proved are left out. One read. */
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
