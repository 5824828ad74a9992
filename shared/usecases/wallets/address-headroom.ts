import { FAMILIES } from '#shared/domain/enumerations.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { HISTORY_SOURCES } from './history-source.ts'
import { isSearching } from './key-history.ts'
import { newKeyMaterial, openKeyMaterial } from './key-material.ts'

/** Addresses derived without a pause; at a fraction of a millisecond each, other work of the process waits at most this long. */
const BATCH = 16
/** Every key gets this many addresses before any gets its full headroom, so that payments work at once after a first start. */
const FIRST_SHARE = 48

/** Dependencies of deriving ahead. */
export type HeadroomDeps = Runtime & Uses<'wallets' | 'addressBook' | 'secretBox' | 'marks'>

/** Creates the built-in sandbox keys of test mode, one for each family; existing ones are unchanged. */
export async function ensureSandboxMaterials(deps: HeadroomDeps): Promise<void> {
  for (const family of FAMILIES) {
    const key = deps.addressBook.sandboxKey(family)
    await deps.wallets.upsertMaterial(newKeyMaterial(deps, { mode: 'test', family, ...key, sandbox: true }))
  }
}

/**
 * Derives addresses until every key material has `headroom` of them beyond the next one to be offered, by key where it is a function, and a key whose
 * earlier use is searched has as many as the search reads. Stops early
 * when `shouldStop` returns true; the next round continues where this one ended. Returns how many addresses were derived.
 * A key that cannot be decrypted or derived is logged and counted, and does not delay the others.
 */
export async function deriveAhead(
  deps: HeadroomDeps,
  headroom: number | ((materialId: string) => number),
  shouldStop: () => boolean = () => false,
): Promise<number> {
  let derived = 0
  const failed = new Set<string>()
  let materials = await deps.wallets.listMaterials()
  const wanted = (materialId: string): number => (typeof headroom === 'number' ? headroom : headroom(materialId))
  for (const most of [FIRST_SHARE, Number.POSITIVE_INFINITY]) {
    // What the first share derived is in the stored keys only.
    if (derived > 0) materials = await deps.wallets.listMaterials()
    for (const material of materials) {
      if (material.kind !== 'xpub' || failed.has(material.id)) continue
      try {
        const share = Math.min(most, wanted(material.id))
        const ahead = Math.max(share, isSearching(material) ? (HISTORY_SOURCES[material.family]?.gap ?? 0) : 0)
        derived += await deriveTo(deps, material, material.nextIndex + ahead, shouldStop)
      } catch (cause) {
        failed.add(material.id)
        deps.metrics.count('address_derivation_failed_total', { family: material.family })
        deps.logger.error({ err: cause, materialId: material.id }, 'addresses could not be derived')
      }
    }
  }
  return derived
}

async function deriveTo(
  deps: HeadroomDeps,
  material: KeyMaterial,
  target: number,
  shouldStop: () => boolean,
): Promise<number> {
  if (material.derivedCount >= target) return 0
  const xpub = openKeyMaterial(deps.secretBox, material)
  const { mode, family, id } = material
  let next = material.derivedCount
  // Before the store: nothing above the marks can ever have been issued.
  if (!material.sandbox) await deps.marks.raiseCeiling(id, target)
  while (next < target && !shouldStop()) {
    const batch = deps.addressBook.derive(family, mode, xpub, next, Math.min(BATCH, target - next))
    next += batch.length
    const rows = batch.map((address) => ({ ...address, mode, family, materialId: id, watchedOn: [] }))
    // The write also lets other work of this process run between two batches.
    await deps.wallets.addDerived(id, rows, next)
  }
  return next - material.derivedCount
}
