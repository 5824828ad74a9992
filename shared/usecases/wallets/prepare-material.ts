import { createHash } from 'node:crypto'
import { invalidField, type PaymeshError } from '#shared/contracts/errors.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { ListedAddress, WatchedAddress } from '#shared/ports/addresses.ts'
import type { AccountKey, KeyRequest } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial, WalletKind } from '#shared/ports/key-material.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { firstHistory, giveStartIndex } from './key-history.ts'
import { keyMaterialId, newKeyMaterial } from './key-material.ts'

/** Addresses shown for comparison with the merchant's own wallet. */
const SHOWN = 3
/** Addresses derived immediately, so that the wallet is usable as soon as the scanners watch them. */
const DERIVED_AT_ONCE = 32
/** Maximum number of addresses in a pool. */
const POOL_MAX = 10_000

/** Dependencies of storing key material. */
export type PrepareMaterialDeps = Uses<'wallets' | 'catalog' | 'addressBook' | 'secretBox' | 'clock' | 'marks'>

/** Key material as a person enters it. */
export interface MaterialInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: WalletKind
  /** An extended public key, a list of addresses, or one address. */
  readonly value: string
  /** For an extended key whose version bytes do not determine it. */
  readonly scriptType?: ScriptType
  /** Position of an extended key that is not at account level (BIP 32). */
  readonly path?: string
  /** First index of an extended key to offer; it replaces the search for earlier use. */
  readonly startIndex?: number
  /** Addresses new to a pool are not offered before this time; absent = at once. */
  readonly offeredFrom?: Ms
  /** The workspace proved control, so that it displaces other workspaces; absent = it does not. */
  readonly isProved?: boolean
}

/** Stored key material for a wallet, and the workspaces that receive on the same addresses. */
export interface PreparedMaterial {
  readonly material: KeyMaterial
  /** At most three, in the order of the merchant's own wallet. */
  readonly firstAddresses: readonly string[]
  /** Counts of addresses that are new, that the wallet already had, and that the list repeated. Null for extended keys. */
  readonly listed: { readonly added: number; readonly known: number; readonly repeated: number } | null
  readonly sharedWith: readonly string[]
  /** A start index was set for a key that was already stored. */
  readonly startChanged: boolean
}

/** Checks a wallet as entered and stores it with its addresses; stores nothing when it is invalid. */
export async function prepareMaterial(deps: PrepareMaterialDeps, input: MaterialInput): Promise<PreparedMaterial> {
  if (input.kind === 'xpub') return prepareKey(deps, input)
  refuseKeyFields(input)
  return prepareAddresses(deps, input)
}

/** Fields of extended keys are an error on any other kind. Throws `VALIDATION_ERROR`. */
export function refuseKeyFields(input: Pick<MaterialInput, 'scriptType' | 'path' | 'startIndex'>): void {
  for (const path of ['scriptType', 'path', 'startIndex'] as const) {
    if (input[path] === undefined) continue
    throw invalidField(path, 'Only extended public keys have this. Leave it out.')
  }
}

/**
 * Parses a pasted extended public key into every account that it may denote, one unless a person still has to choose the
 * script type, and checks each with a second library; stores nothing. Throws `VALIDATION_ERROR`.
 */
export function readKeys(
  { addressBook }: Pick<PrepareMaterialDeps, 'addressBook'>,
  input: Pick<MaterialInput, 'mode' | 'family' | 'value' | 'scriptType' | 'path'>,
): readonly AccountKey[] {
  const { mode, family, value } = input
  const keys = addressBook.readings(family, mode, value, requestOf(input))
  for (const { xpub } of keys) addressBook.verify(family, mode, xpub)
  return keys
}

/** Fields that a person entered with an extended key. */
export function requestOf({ scriptType, path }: Pick<MaterialInput, 'scriptType' | 'path'>): KeyRequest {
  return { ...(scriptType !== undefined && { scriptType }), ...(path !== undefined && { path }) }
}

/** Reads a pasted list of addresses, one for the kind `address`, and names their material; stores nothing. Throws `VALIDATION_ERROR`. */
export function readAddresses(
  { addressBook }: Pick<PrepareMaterialDeps, 'addressBook'>,
  { mode, family, kind, workspaceId, value }: MaterialInput,
) {
  const { addresses, repeated } = addressBook.parseAddresses(family, value)
  const [first, second] = addresses
  if (first === undefined) throw invalid('The list contains no address.')
  if (kind === 'address' && second !== undefined) {
    throw invalid('A wallet of kind address has a single address. Add a pool to receive on several addresses.')
  }
  const suffix = kind === 'pool' ? `pool:${workspaceId}` : `address:${first.matchKey}`
  return { addresses, repeated, materialId: `${mode}:${family}:${suffix}` }
}

async function prepareKey(deps: PrepareMaterialDeps, input: MaterialInput): Promise<PreparedMaterial> {
  const { mode, family, startIndex } = input
  const { xpub, fingerprint, scriptType } = deps.addressBook.normalise(family, mode, input.value, requestOf(input))
  deps.addressBook.verify(family, mode, xpub)
  const derived = deps.addressBook.derive(family, mode, xpub, 0, DERIVED_AT_ONCE)
  const source = { mode, family, xpub, fingerprint, scriptType, sandbox: false }
  const known = await deps.wallets.findMaterial(keyMaterialId(source))
  const stored =
    known ??
    (await deps.wallets.upsertMaterial(
      newKeyMaterial(deps, {
        ...source,
        history: firstHistory(deps.catalog, input),
        // The key may have been in use here before the database came back without it.
        firstFree: Math.max(
          await deps.marks.firstFreeIndex(keyMaterialId(source)),
          (
            await lostWallets(deps)
          ).firstFree,
        ),
      }),
    ))
  const material =
    startIndex === undefined ? stored : await giveStartIndex(deps.wallets, stored, input.workspaceId, startIndex)
  const rows = derived.map((address) => ({ ...address, mode, family, materialId: material.id, watchedOn: [] }))
  await deps.marks.raiseCeiling(material.id, rows.length)
  await deps.wallets.addDerived(material.id, rows, rows.length)
  return {
    material,
    firstAddresses: derived.slice(0, SHOWN).map(({ address }) => address),
    listed: null,
    // The returned record is a different object only if it was changed.
    startChanged: material !== stored,
    sharedWith: await deps.wallets.workspacesUsing(material.id),
  }
}

async function prepareAddresses(deps: PrepareMaterialDeps, input: MaterialInput): Promise<PreparedMaterial> {
  const { mode, family, kind } = input
  const offeredFrom = Math.max((await lostWallets(deps)).until, (kind === 'pool' && input.offeredFrom) || 0) || null
  const { addresses, repeated, materialId } = readAddresses(deps, input)
  const rows = addresses.map(({ address, matchKey }) => ({
    mode,
    family,
    matchKey,
    address,
    materialId: kind === 'pool' ? `${mode}:${family}:pooled:${matchKey}` : materialId,
  }))
  const matchKeys = rows.map(({ matchKey }) => matchKey)
  const stored = await deps.wallets.findAddresses(mode, family, matchKeys)
  const own = new Set((await deps.wallets.listWallets(input.workspaceId)).map((wallet) => wallet.materialId))
  const use = { own, isProved: input.isProved === true }
  refuseOtherUse(rows, stored, use)
  const known = stored.filter(({ heldBy }) => heldBy?.includes(materialId)).length
  const added = rows.length - known
  if (kind === 'pool' && (await deps.wallets.countHeld(materialId)) + added > POOL_MAX) {
    throw invalid(`A pool can contain at most ${POOL_MAX} addresses.`)
  }
  const material = await deps.wallets.upsertMaterial(listedMaterial(deps, input, materialId))
  // A refusal here means that an address was put to another use since the check, or listed concurrently.
  if ((await deps.wallets.addListed(materialId, rows, offeredFrom)).length > 0) {
    refuseOtherUse(rows, await deps.wallets.findAddresses(mode, family, matchKeys), use)
    await deps.wallets.addListed(materialId, rows, offeredFrom)
  }
  const holders = new Set(stored.flatMap(({ heldBy }) => heldBy ?? []))
  const sharedWith = (await Promise.all([...holders].map((id) => deps.wallets.workspacesUsing(id)))).flat()
  const firstAddresses = addresses.slice(0, SHOWN).map(({ address }) => address)
  return { material, firstAddresses, listed: { added, known, repeated }, sharedWith, startChanged: false }
}

/** What the store may have lost, for as long as what was lost may be paid. */
async function lostWallets({ marks, clock }: Pick<PrepareMaterialDeps, 'marks' | 'clock'>) {
  const lost = await marks.lostWallets()
  return lost !== null && clock.now() < lost.until ? lost : { firstFree: 0, until: 0 }
}

/** Each kind of use claims an address in a different form, and two forms would not exclude each other. */
function refuseOtherUse(
  rows: readonly ListedAddress[],
  stored: readonly WatchedAddress[],
  { own, isProved }: { readonly own: ReadonlySet<string>; readonly isProved: boolean },
): void {
  const storedAs = new Map(stored.map((row) => [row.matchKey, row]))
  const [ours, others]: [number[], number[]] = [[], []]
  for (const [index, { matchKey, materialId }] of rows.entries()) {
    const known = storedAs.get(matchKey)
    if (known === undefined || known.materialId === materialId) continue
    const isOurs = (known.heldBy ?? [known.materialId]).some((material) => own.has(material))
    ;(isOurs ? ours : others).push(index + 1)
  }
  const listOf = (places: readonly number[]) => `number ${places.slice(0, 20).join(', ')} of the list.`
  if (ours.length > 0) {
    throw invalid(
      `You already use ${ours.length} of these addresses in another way (derived from a key, in a pool, or as a single address): ${listOf(ours)}`,
    )
  }
  // Reveals nothing about other workspaces.
  if (others.length > 0 && !isProved) throw invalid(`These addresses cannot be used in this way: ${listOf(others)}`)
}

function listedMaterial(deps: PrepareMaterialDeps, input: MaterialInput, id: string): KeyMaterial {
  const { mode, family, kind } = input
  return {
    id,
    mode,
    family,
    kind,
    fingerprint: createHash('sha256').update(id, 'utf8').digest('hex').slice(0, 32),
    sealed: '',
    sandbox: false,
    scriptType: null,
    nextIndex: 0,
    derivedCount: 0,
    returned: [],
    createdAt: deps.clock.now(),
  }
}

const invalid = (message: string): PaymeshError => invalidField('value', message)
