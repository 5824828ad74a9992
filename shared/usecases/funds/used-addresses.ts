import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Rows of the wallet that are read from the store in one step, and for one page at most. */
const STEP = 100
const ROWS_MAX = 2_000

/** Dependencies of finding used addresses. */
export type UsedAddressesDeps = Uses<'wallets' | 'fundsReads'>

/** An address with its place in the wallet. */
export interface UsedAddress {
  readonly address: string
  readonly matchKey: string
  /** Null for listed addresses. */
  readonly index: number | null
}

/** At most `limit` addresses, and where to continue; null at the end. A page may be short, even empty, before the end. */
export interface UsedPage {
  readonly addresses: readonly UsedAddress[]
  readonly next: string | null
}

/**
 * The addresses of a wallet that received a payment for the workspace, or hold a claim of its invoices; the address of a
 * single-address wallet always. `after` is the `next` of an earlier page. A key that several workspaces use shows each of them only
 * its own.
 */
export async function usedAddresses(
  deps: UsedAddressesDeps,
  scope: { readonly workspaceId: string; readonly material: KeyMaterial },
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<UsedPage> {
  const { workspaceId, material } = scope
  const { mode, family } = material
  const found: UsedAddress[] = []
  let place = after
  for (let read = 0; read < ROWS_MAX; read += STEP) {
    const rows = await rowsAfter(deps, material, place)
    if (rows.length === 0) return { addresses: found, next: null }
    const matchKeys = rows.map(({ matchKey }) => matchKey)
    const isSingle = material.kind === 'address'
    const used = isSingle ? new Set(matchKeys) : await deps.fundsReads.usedBy({ workspaceId, mode, family, matchKeys })
    for (const row of rows) {
      place = placeOf(material, row)
      if (!used.has(row.matchKey)) continue
      const { address, matchKey, index } = row
      found.push({ address, matchKey, index: material.kind === 'xpub' ? index : null })
      if (found.length === limit) return { addresses: found, next: place }
    }
  }
  return { addresses: found, next: place }
}

type Row = Awaited<ReturnType<WalletRepository['heldPage']>>[number]

async function rowsAfter({ wallets }: UsedAddressesDeps, material: KeyMaterial, after: string | null) {
  if (material.kind !== 'xpub') return await wallets.heldPage(material.id, after, STEP)
  const from = after === null ? (material.history?.startIndex ?? 0) : Number(after) + 1
  const count = Math.max(0, Math.min(STEP, material.nextIndex - from))
  if (count === 0) return []
  const rows = await wallets.addressesAt(
    material.id,
    Array.from({ length: count }, (_, offset) => from + offset),
  )
  return rows.toSorted((left, right) => left.index - right.index)
}

function placeOf({ kind }: KeyMaterial, { index, matchKey }: Row): string {
  return kind === 'xpub' ? String(index) : matchKey
}
