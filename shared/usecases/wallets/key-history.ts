import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formerScriptType, type ScriptType } from '#shared/domain/script-type.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { KeyHistory, KeyMaterial, WalletRepository } from '#shared/ports/wallets.ts'
import { searchableNetworks } from './history-source.ts'

/** Highest start index that is taken: all addresses below it are derived and watched as well. */
export const START_INDEX_MAX = 100_000

/** What is known of an extended key, for people. */
export interface KeyStanding {
  /** Null where addresses are no output scripts. */
  readonly scriptType: ScriptType | null
  /** False while earlier use is searched: then no address is offered. */
  readonly ready: boolean
  readonly waitingFor: readonly NetworkId[]
  /** First index that is ever offered, as far as is known. */
  readonly startIndex: number
  /** Highest index that was used before; null when none was found. */
  readonly lastUsedIndex: number | null
  /** Start index that a person gave; null when nobody did. */
  readonly givenIndex: number | null
}

/** What is known of a material; null when it is no extended key. */
export function keyStanding(
  material: Pick<KeyMaterial, 'kind' | 'family' | 'scriptType' | 'history'>,
): KeyStanding | null {
  const { kind, family, history, scriptType = formerScriptType(family) } = material
  if (kind !== 'xpub') return null
  const { waitingFor = [], startIndex = 0, lastUsedIndex = null, givenIndex = null } = history ?? {}
  return { scriptType, ready: !isSearching(material), waitingFor, startIndex, lastUsedIndex, givenIndex }
}

/** Whether addresses of a material are held back until its earlier use is known. */
export function isSearching({ history }: Pick<KeyMaterial, 'history'>): boolean {
  return history?.state === 'searching'
}

/**
 * The history that a new key begins with: a person's start index, a search where nodes can be asked, and in test mode index 0
 * where none can. Throws `VALIDATION_ERROR` with path `startIndex` for an index out of range, and in live mode when there is
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
    'No node can be asked whether this key was used before. Give the index of the next unused address of your wallet: 0 for a wallet that never received anything.',
  )
}

/**
 * Lets a person's start index stand for the search of a key that is stored already, and returns the key as it then is. A key
 * that another workspace uses as well is left alone: its owner has a say in where it starts. Throws `VALIDATION_ERROR` with
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
      `Addresses of this key have been given to payers already; the next one has index ${material.nextIndex}. A start index is possible before the first only.`,
    )
  }
  return (await wallets.findMaterial(material.id)) ?? material
}

const NOTHING = { waitingFor: [], searched: [], lastUsedIndex: null, startIndex: 0, givenIndex: null } as const

function checkStartIndex(startIndex: number): void {
  if (Number.isInteger(startIndex) && startIndex >= 0 && startIndex <= START_INDEX_MAX) return
  throw invalid(`The start index is a whole number from 0 to ${START_INDEX_MAX}.`)
}

function invalid(message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'startIndex', message }] })
}
