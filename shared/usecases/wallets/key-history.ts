import { invalidField, type PaymeshError } from '#shared/contracts/errors.ts'
import type { KeyStanding } from '#shared/contracts/wallet-previews.ts'
import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { KeyHistory, KeyMaterial } from '#shared/ports/key-material.ts'
import { searchableNetworks } from './history-source.ts'

/** Highest start index accepted: all addresses below it are derived and watched as well. */
export const START_INDEX_MAX = 100_000

/** The state of a material; null unless it is an extended key. */
export function keyStanding(material: Pick<KeyMaterial, 'kind' | 'scriptType' | 'history'>): KeyStanding | null {
  const { kind, history, scriptType } = material
  if (kind !== 'xpub') return null
  const { waitingFor = [], startIndex = 0, lastUsedIndex = null, givenIndex = null } = history ?? {}
  return {
    scriptType,
    ready: !isSearching(material),
    waitingFor: [...waitingFor],
    startIndex,
    lastUsedIndex,
    givenIndex,
  }
}

/** Whether addresses of a material are withheld until its earlier use is known. */
export function isSearching({ history }: Pick<KeyMaterial, 'history'>): boolean {
  return history?.state === 'searching'
}

/**
 * The initial history of a new key: an operator's start index, a search where nodes support it, and in test mode index 0
 * where none does. Throws `VALIDATION_ERROR` with path `startIndex` for an index out of range, and in live mode when there is
 * neither an index nor a node.
 */
export function firstHistory(
  catalog: Pick<Catalog, 'asset' | 'hasNode'>,
  { mode, family, startIndex }: { readonly mode: Mode; readonly family: Family; readonly startIndex?: number },
): KeyHistory {
  if (startIndex !== undefined) {
    checkStartIndex(startIndex)
    return { state: 'known', ...NOTHING, startIndex, givenIndex: startIndex }
  }
  const waitingFor = searchableNetworks(catalog, family, mode)
  if (waitingFor.length > 0) return { state: 'searching', ...NOTHING, waitingFor }
  if (mode === 'test') return { state: 'known', ...NOTHING }
  throw invalid(
    'No connected node can check whether this key was used before. Enter the index of the next unused address of your wallet: 0 for a wallet that has never received a payment.',
  )
}

/**
 * Replaces the search of a stored key by an operator's start index, and returns the resulting key. A key
 * that another workspace uses as well is left unchanged: its owner also decides about the start. Throws `VALIDATION_ERROR` with
 * path `startIndex` when the index is out of range, or addresses below it have been offered.
 */
export async function giveStartIndex(
  wallets: Pick<WalletRepository, 'findMaterial' | 'setStartIndex' | 'workspacesUsing'>,
  material: KeyMaterial,
  workspaceId: string,
  startIndex: number,
): Promise<KeyMaterial> {
  checkStartIndex(startIndex)
  if (!isSearching(material) && startIndex <= material.nextIndex) return material
  if ((await wallets.workspacesUsing(material.id)).some((other) => other !== workspaceId)) return material
  if (!(await wallets.setStartIndex(material.id, startIndex))) {
    throw invalid(
      `Addresses of this key are already in use; the next index is ${material.nextIndex}. You can only set a start index before the first address is used.`,
    )
  }
  return (await wallets.findMaterial(material.id)) ?? material
}

const NOTHING = { waitingFor: [], searched: [], lastUsedIndex: null, startIndex: 0, givenIndex: null } as const

function checkStartIndex(startIndex: number): void {
  if (Number.isInteger(startIndex) && startIndex >= 0 && startIndex <= START_INDEX_MAX) return
  throw invalid(`The start index must be a whole number from 0 to ${START_INDEX_MAX}.`)
}

const invalid = (message: string): PaymeshError => invalidField('startIndex', message)
