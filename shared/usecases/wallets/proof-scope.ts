import { createHash } from 'node:crypto'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { ListedAddress } from '#shared/ports/addresses.ts'
import type { AddressBook } from '#shared/ports/chain-catalog.ts'
import type { WalletKind } from '#shared/ports/key-material.ts'
import type { ProvedRow } from '#shared/ports/ownership.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import { keyMaterialId, openKeyMaterial } from './key-material.ts'
import { type MaterialInput, readAddresses, requestOf } from './prepare-material.ts'

/** Addresses of a proved key that are taken over from other uses at once. */
const KEY_ROWS = 32
const PAGE = 1_000

/** The subject of a proof: an extended key, or listed addresses with their kind of use. */
export interface ProofScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: WalletKind
  readonly materialId: string
  readonly rows: readonly ProvedRow[]
  /** SHA-256 over all of the above, hex: a challenge for anything else is invalid. */
  readonly subjectHash: string
  /** Description in the text to sign; printable ASCII. */
  readonly words: string
}

/** The addresses that must sign: the first address represents a key, because its private key and the public key yield all others. */
export function signersOf({ kind, rows }: ProofScope): readonly ProvedRow[] {
  return kind === 'xpub' ? rows.slice(0, 1) : rows
}

/** The scope of pasted material. Throws `VALIDATION_ERROR` as adding it does. */
export function enteredScope(deps: { readonly addressBook: AddressBook }, input: MaterialInput): ProofScope {
  const { mode, family, kind, value } = input
  if (kind === 'xpub') {
    const key = deps.addressBook.normalise(family, mode, value, requestOf(input))
    return keyScope(deps, input, keyMaterialId({ ...key, mode, family }), key.xpub)
  }
  const { addresses, materialId } = readAddresses(deps, input)
  return listScope(input, materialId, addresses)
}

/** The scope of a wallet as it is now; null when none of it is left. */
export async function walletScope(
  deps: {
    readonly addressBook: AddressBook
    readonly secretBox: SecretBox
    readonly wallets: Pick<WalletRepository, 'findMaterial' | 'heldPage' | 'findAddresses'>
  },
  wallet: Wallet,
): Promise<ProofScope | null> {
  const { mode, family, kind, materialId } = wallet
  if (kind === 'xpub') {
    const material = await deps.wallets.findMaterial(materialId)
    return material === null ? null : keyScope(deps, wallet, materialId, openKeyMaterial(deps.secretBox, material))
  }
  const rows =
    kind === 'pool'
      ? await heldBy(deps.wallets, materialId)
      : await deps.wallets.findAddresses(mode, family, [materialId.slice(materialId.lastIndexOf(':') + 1)])
  return rows.length === 0 ? null : listScope(wallet, materialId, rows)
}

async function heldBy(wallets: Pick<WalletRepository, 'heldPage'>, materialId: string) {
  const rows: { matchKey: string; address: string }[] = []
  for (let after: string | null = null; ; ) {
    const page = await wallets.heldPage(materialId, after, PAGE)
    rows.push(...page)
    after = page.at(-1)?.matchKey ?? null
    if (page.length < PAGE) return rows
  }
}

type Facts = Pick<ProofScope, 'workspaceId' | 'mode' | 'family' | 'kind'>

function keyScope(
  { addressBook }: { readonly addressBook: AddressBook },
  { workspaceId, mode, family, kind }: Facts,
  materialId: string,
  xpub: string,
): ProofScope {
  const rows = addressBook.derive(family, mode, xpub, 0, KEY_ROWS).map((row) => ({ ...row, materialId }))
  const first = rows[0]?.address ?? ''
  const words = `the extended public key whose first address is ${first}`
  return { workspaceId, mode, family, kind, materialId, rows, subjectHash: hashOf(materialId, []), words }
}

function listScope(
  { workspaceId, mode, family, kind }: Facts,
  materialId: string,
  addresses: readonly { readonly matchKey: string; readonly address: string }[],
): ProofScope {
  const rows = addresses.map(({ matchKey, address }) => ({
    ...{ matchKey, address, index: 0 },
    materialId: kind === 'pool' ? `${mode}:${family}:pooled:${matchKey}` : materialId,
  }))
  const subjectHash = hashOf(
    materialId,
    rows.map(({ matchKey }) => matchKey),
  )
  const [first] = rows
  const words =
    rows.length === 1 && first !== undefined
      ? `address ${first.address}`
      : `${rows.length} addresses (SHA-256 ${subjectHash.slice(0, 32)})`
  return { workspaceId, mode, family, kind, materialId, rows, subjectHash, words }
}

function hashOf(materialId: string, matchKeys: readonly string[]): string {
  return createHash('sha256')
    .update([materialId, ...[...matchKeys].sort()].join('\n'))
    .digest('hex')
}

/** The rows in the wallet's order. */
export function listedRows({ mode, family, rows }: ProofScope): readonly ListedAddress[] {
  return rows.map(({ matchKey, address, materialId }) => ({ mode, family, matchKey, address, materialId }))
}
